var Wt="http://www.w3.org/2000/svg",Vt=Math.random().toString(36).slice(2,8),Yt=0,q=(t="tb")=>`${t}-${Vt}-${Yt+=1}`,r=(t,e,...o)=>gt(document.createElement(t),e,o),b=(t,e,...o)=>gt(document.createElementNS(Wt,t),e,o);function gt(t,e,o){for(let[a,i]of Object.entries(e??{}))i===!1||i===null||i===void 0||(typeof i=="function"&&a.startsWith("on")?t.addEventListener(a.slice(2),i):a==="style"&&typeof i=="object"?Gt(t,i):t.setAttribute(a,i===!0?"":i));return t.append(...vt(o)),t}function Gt(t,e){for(let[o,a]of Object.entries(e))o.startsWith("--")?t.style.setProperty(o,a):t.style[o]=a}var vt=t=>t.flat(1/0).filter(e=>e!=null&&e!==!1&&e!=="");function C(t,...e){return t.replaceChildren(...vt(e)),t}function P(t,e,o={}){let a=r("button",{type:"button",class:["tbviz-button",o.kind&&`tbviz-${o.kind}`].filter(Boolean).join(" "),title:o.title,"aria-label":o.name,onclick:i=>a.getAttribute("aria-disabled")!=="true"&&e(i)},t);return a.disable=i=>i?a.setAttribute("aria-disabled","true"):a.removeAttribute("aria-disabled"),a.disable(!!o.disabled),a}var xt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function R(t,e){let o=r("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},e),a=()=>[...o.querySelectorAll("button, a[href]")],i=l=>a().forEach(s=>s.tabIndex=s===l?0:-1);return o.addEventListener("focusin",l=>i(l.target.closest("button, a[href]"))),o.addEventListener("keydown",l=>{let s=a(),c=s.indexOf(l.target);if(c<0)return;let u=-1;l.key in xt?u=(c+xt[l.key]+s.length)%s.length:l.key==="Home"?u=0:l.key==="End"&&(u=s.length-1),!(u<0)&&(l.preventDefault(),s[u].focus())}),i(a()[0]),o.reset=()=>i(a().find(l=>l.tabIndex===0)??a()[0]),o}async function yt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Qt(t)}}function Qt(t){let e=document.activeElement,o=r("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});o.value=t,document.body.append(o),o.select();let a=!1;try{a=document.execCommand("copy")}catch{a=!1}return o.remove(),e?.focus?.(),a}function W(t,e,o={}){let a=r("span",{class:"tbviz-status",role:"status"}),i=0,l=c=>{clearTimeout(i),a.textContent=c,i=setTimeout(()=>a.textContent="",2500)},s=P(t,async()=>{let c=e();l(await yt(c)?"Copied":`Copying is not allowed here. Copy this: ${c}`)},o);return r("span",{class:"tbviz-copy"},s,a)}var Jt=t=>{let e=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...e)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Kt=t=>{let e=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(e,o=>o.charCodeAt(0))))},V=(t,e)=>typeof e=="string"&&/^[\w-]+$/.test(e)?`#tbviz-${t}:${e}`:`#tbviz-${t}=${Jt(e)}`;function wt(t,e){let o;try{o=decodeURIComponent(e)}catch{return}for(let[a,i]of[[":",l=>l],["=",Kt]]){let l=`#tbviz-${t}${a}`;if(o.startsWith(l))try{return i(o.slice(l.length))}catch{return}}}var rt=t=>t.closest(".viz-mount");function nt(t,e,o){let a=rt(t);return o||!a?o||e:`${e}-${[...document.querySelectorAll(".viz-mount")].indexOf(a)+1}`}var kt=new WeakMap,zt=(t,e)=>kt.set(t,e);function it({key:t,get:e,put:o,el:a,label:i="Copy link"}){let l=!!rt(a),s=kt.get(a),c=m=>`${location.href.split("#")[0]}${V(t,m)}`,u=l?W(i,()=>c(e()),{title:"A link that opens this figure as it is now"}):r("span",{hidden:!0}),[g,x,E]=[void 0,"",0],$=()=>{let m=wt(t,location.hash);m===void 0&&!x||(o(m===void 0?g:m),clearTimeout(E),x=m===void 0?"":V(t,e()),m!==void 0&&a.scrollIntoView({block:a.clientHeight>innerHeight?"start":"nearest"}))},T=()=>{let m=e(),A=V(t,m);if(!(A===x||!x&&A===V(t,g))){if(typeof m=="string")history.pushState(null,"",A);else if(x)history.replaceState(null,"",A);else return;x=A}},y=()=>{clearTimeout(E),E=setTimeout(T,250)};return u.cleanup=()=>{clearTimeout(E),removeEventListener("hashchange",$),s?.off("change",y)},u.start=()=>{l&&(g=e(),addEventListener("hashchange",$),$(),s?.on("change",y))},queueMicrotask(u.start),u}var $t=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,At=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,St=(...t)=>t.map(e=>`${e} .tbviz`).join(","),Et=`
.tbviz{${$t}}
@media (prefers-color-scheme:dark){.tbviz{${At}}}
${St("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${$t}}
${St("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${At}}
.tbviz,.tbviz *{box-sizing:border-box}
.tbviz{container-type:inline-size;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:10px;
position:relative;padding:.85rem;margin:.75rem 0;max-width:100%;min-height:var(--tb-room,0);font-size:.9375rem;line-height:1.45;display:flex;flex-direction:column;gap:.7rem;text-align:left}
.tbviz p{margin:0}
.tbviz [hidden]{display:none!important}
.tbviz code,.tbviz pre,.tbviz .tbviz-mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:max(12px,.9em);
color:inherit;background:none;border:0;padding:0;margin:0}
.tbviz-controls{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:flex-end}
.tbviz-stage{min-width:0;max-width:100%;overflow-x:auto;flex:1 0 auto}
.tbviz-title{font-size:max(12px,.86em);color:var(--tb-muted)}
.tbviz-stage svg{max-width:100%;display:block}
.tbviz-finding{font-size:1.0625rem;font-weight:650;line-height:1.3}
.tbviz-invitation{color:var(--tb-muted);font-size:max(12px,.92em)}
.tbviz-bar{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center}
.tbviz-bar>:is(.tbviz-toolbar,.tbviz-field){min-width:0}
.tbviz-readout{display:flex;flex-direction:column;gap:.35rem;font-size:max(12px,.95em);overflow-wrap:anywhere}
.tbviz>.tbviz-words{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.tbviz-drawer>summary{cursor:pointer;color:var(--tb-muted);font-size:max(12px,.9em);min-height:1.9rem;padding:.25rem 0;width:fit-content}
.tbviz-rest{display:flex;flex-direction:column;gap:.7rem;margin:.35rem 0 .7rem}
.tbviz-help{color:var(--tb-muted);font-size:max(12px,.86em)}
.tbviz-button,.tbviz select,.tbviz input[type=text],.tbviz input[type=number]{font:inherit;font-size:max(12px,.92em);line-height:1.3;min-height:1.9rem;min-width:1.9rem;
color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:6px;padding:.2rem .6rem;margin:0;box-shadow:none;max-width:100%}
.tbviz-button{cursor:pointer;touch-action:manipulation}
.tbviz-button:hover{background:var(--tb-fill);border-color:var(--tb-fg)}
.tbviz-button[aria-pressed=true]{background:var(--tb-accent);border-color:var(--tb-accent);color:var(--tb-on-accent);font-weight:600}
.tbviz-button[aria-disabled=true]{color:var(--tb-muted);border-style:dashed;cursor:default;background:none}
.tbviz-primary:not([aria-disabled=true]){background:var(--tb-accent);border-color:var(--tb-accent);color:var(--tb-on-accent);font-weight:600}
.tbviz-primary:not([aria-disabled=true]):hover{background:var(--tb-accent);filter:brightness(1.12)}
.tbviz-quiet{border-color:transparent;background:none}
.tbviz :focus-visible{outline:3px solid var(--tb-accent);outline-offset:2px;border-radius:6px}
.tbviz-toolbar{display:flex;flex-wrap:wrap;gap:.35rem}
.tbviz-field{display:inline-flex;flex-direction:column;gap:.1rem;min-width:0;max-width:100%}
.tbviz-field>label{font-size:max(12px,.8em);color:var(--tb-muted);margin:0}
.tbviz-slider{display:grid;grid-template-columns:minmax(4.5rem,auto) minmax(5rem,1fr) minmax(2.2rem,auto);gap:.5rem;align-items:center;min-height:1.9rem}
.tbviz-slider>label{margin:0;font-size:max(12px,.92em)}
.tbviz-slider>input{width:100%;min-width:0;height:1.6rem;margin:0;accent-color:var(--tb-accent)}
.tbviz-slider>output{font-variant-numeric:tabular-nums;text-align:right}
.tbviz-error{color:var(--tb-bad);font-size:max(12px,.9em);overflow-wrap:anywhere}
.tbviz-error:empty,.tbviz-status:empty{display:none}
.tbviz [aria-invalid=true]{border-color:var(--tb-bad);border-width:2px}
.tbviz-copy{display:inline-flex;flex-wrap:wrap;gap:.4rem;align-items:center}
.tbviz-status{color:var(--tb-good);font-size:max(12px,.86em);overflow-wrap:anywhere;user-select:all}
@media (prefers-reduced-motion:no-preference){.tbviz-button{transition:background .12s,border-color .12s}}
.tbviz :is(sup,sub,small){font-size:max(12px,.8em)}
@container (max-width:560px){.tbviz-bar>.tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;max-width:100%;padding:4px;margin:-4px}.tbviz-bar .tbviz-button{flex:none}}
@media (max-width:480px){.tbviz{padding:.45rem .6rem;gap:.3rem;line-height:1.38}.tbviz-bar{gap:.35rem .5rem}.tbviz-finding{font-size:1rem;line-height:1.25}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var Tt=3;function st({model:t,el:e,title:o,finding:a,invitation:i,describe:l}){let s=[];zt(e,t);let c=q(),u=r("div",{class:"tbviz-stage"}),g=r("div",{class:"tbviz-bar"}),x=r("div",{class:"tbviz-readout"}),E=r("div",{class:"tbviz-rest"}),$=r("p",{class:"tbviz-words","aria-live":"polite"}),T=r("p",{class:"tbviz-help",id:c}),y=r("details",{class:"tbviz-drawer"},r("summary",{},"Settings and numbers"),E,T),m=r("style",{},Et),A=r("div",{class:"tbviz",role:"group","aria-label":o,"aria-describedby":typeof l=="string"?c:null},m,r("div",{class:"tbviz-head"},r("p",{class:"tbviz-finding"},a),r("p",{class:"tbviz-invitation"},i)),u,g,x,$,y),J=({presets:f=[],...k})=>{let S=f.slice(Tt),j=[[u,[k.stage]],[g,[f.length>0&&R("Presets",f.slice(0,Tt)),k.bar]],[x,[k.readout]],[E,[S.length>0&&r("div",{},r("p",{class:"tbviz-title"},"Start from"),R("More presets",S)),k.drawer]]];for(let[_,X]of j)C(_,X.flat()),_.hidden=!_.childNodes.length};typeof l=="string"?T.textContent=l:T.hidden=!0,A.addEventListener("keydown",f=>f.stopPropagation());let L=f=>{for(let[k,S]of Object.entries(f))t.set(k,S);t.save_changes()},B=f=>{$.textContent!==f&&($.textContent=f),t.get("words")!==f&&L({words:f})},I=(f,k)=>{let S=()=>k(t.get(f));t.on(`change:${f}`,S),s.push(()=>t.off(`change:${f}`,S))},K=()=>{for(;s.length;)s.pop()();A.remove()};return e.append(A),typeof l=="function"&&B(l()),{root:A,stage:u,words:$,help:T,lay:J,say:B,on:I,set:L,defer:f=>s.push(f),cleanup:K,css:f=>m.append(f)}}var Mt={most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{presets:N,levels:Y}=Mt,O=255,Ot=t=>Array.from({length:t},(e,o)=>o),Zt=t=>t.reduce((e,o)=>e+o,0);function qt(t,e,o){let a=Uint8Array.from(atob(t),s=>s.charCodeAt(0)),i=[],l=0;for(;l<a.length;)i.push(Ot(e).map(s=>{let c=o?s+1:e,u=[...a.subarray(l,l+c),...Array(e-c).fill(0)];return l+=c,u}));return i}function G(t){let e=0;for(let o of t)o&&(e-=o/O*Math.log2(o/O));return e}function Q(t){let e=Ot(t.length).slice(1),o=a=>Zt(e.map(a));return{entropy:o(a=>G(t[a]))/e.length,previous:o(a=>t[a][a-1])/(O*e.length),first:o(a=>t[a][0])/(O*e.length),itself:o(a=>t[a][a])/(O*e.length)}}function Ct(t,e){let o=t.map(Q).map(a=>e==="sharp"?-a.entropy:a[e==="broad"?"entropy":e]);return o.indexOf(Math.max(...o))}var te=t=>t?Math.max(1,Math.floor(Y*Math.sqrt(t/O)+.5)):0;function Lt(t){let e={};return t.forEach((o,a)=>{var l;let i=o.map(te);for(let s=0,c=0;s<i.length;s=c){for(;c<i.length&&i[c]===i[s];)c+=1;i[s]&&(e[l=i[s]]??(e[l]=[])).push(`M${s} ${a}h${c-s}v1h-${c-s}z`)}}),Object.entries(e).map(([o,a])=>[Number(o),a.join("")])}function jt(t,{layers:e,heads:o,size:a}){if(!t||typeof t!="object")return!1;let i={layer:e,head:o,query:a};return Object.entries(t).every(([l,s])=>Object.hasOwn(i,l)&&Number.isInteger(s)&&s>=0&&s<i[l])}var Nt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Dt=`
.at{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .at-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .at-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.at-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.at-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .at-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.at-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.at-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.at-scroll{position:relative;overflow:auto;max-width:100%;min-width:0;padding:4px}
.at-all{display:flex;flex-wrap:wrap;gap:.8rem;align-items:flex-start}
.at-all>.at-box{flex:0 1 auto}
.at-all>.at-box:last-child{flex:1 1 22rem}
.at-heads{display:grid;gap:5px}
.tbviz .at-head{display:flex;flex-direction:column;align-items:center;gap:1px;min-width:2.4rem;padding:2px;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:5px;cursor:pointer;font:max(12px,.74em) system-ui,sans-serif;touch-action:manipulation}
.tbviz .at-head svg{width:100%;height:auto;display:block}
.tbviz .at-head[aria-pressed=true]{border-color:var(--tb-fg);outline:2px solid var(--tb-fg);font-weight:700}
.tbviz :is(.at-head,.at-token):focus-visible{outline:3px solid var(--tb-accent);outline-offset:1px}
.at-cell{fill:var(--tb-accent);shape-rendering:crispEdges}
.at-edge{fill:none;stroke:var(--tb-edge);vector-effect:non-scaling-stroke}
.at-line{stroke:var(--tb-muted);stroke-width:.7}
.at-row{fill:none;stroke:var(--tb-fg);stroke-width:2;vector-effect:non-scaling-stroke}
.at-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:700px){.at-main{grid-template-columns:minmax(0,24rem) minmax(0,1fr)}}
.tbviz .at-svg{display:block;width:100%;height:auto;cursor:pointer}
.at-svg text{font:12px ${Nt};fill:var(--tb-fg)}
.at-svg .at-axis{font:12px system-ui,sans-serif;fill:var(--tb-muted)}
.at-svg .on{font-weight:700}
.at-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);align-items:center}
.at-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.at-strip{display:flex;gap:3px;overflow-x:auto;padding:3px}
.at-strip>*{flex:none}
.tbviz .at-token{display:inline-flex;flex-direction:column;align-items:stretch;min-width:2.15rem;padding:1px 2px 0;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:4px;cursor:pointer;font:max(12px,.9em)/1.25 ${Nt};text-align:center;touch-action:manipulation;white-space:pre}
.at-track{height:1.7rem;background:var(--tb-fill);display:flex;align-items:flex-end;border-bottom:1px solid var(--tb-edge)}
.at-track i{display:block;width:100%;background:var(--tb-accent)}
.at-token small{font:max(12px,.8em)/1.3 system-ui,sans-serif;font-variant-numeric:tabular-nums}
.tbviz .at-token.off{border-style:dashed;color:var(--tb-muted)}
.at-token.off .at-track{background:none;border-bottom-style:dashed}
.tbviz .at-token[aria-pressed=true]{outline:2px solid var(--tb-fg);border-color:var(--tb-fg);font-weight:700}
.tbviz .at-lines{margin:0;display:grid;grid-template-columns:minmax(0,max-content) auto minmax(2.4rem,1fr);gap:.2rem .7rem;font-size:max(12px,.92em);font-variant-numeric:tabular-nums;align-items:center}
.at-lines dt{font-weight:400;margin:0}
.at-lines dd{margin:0;text-align:right}
.at-meter{height:.7rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden}
.at-meter i{display:block;height:100%;background:var(--tb-accent)}
.at-tall{max-height:26rem}
@container (max-width:700px){.at-tall{max-height:13rem}}
.tbviz .at-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .at-table tr{background:none;border:0}
.tbviz .at-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.12rem .45rem;text-align:right;background:none;color:inherit;font-weight:400}
.tbviz .at-table th[scope=row]{text-align:left;white-space:nowrap}
.tbviz .at-table thead th{color:var(--tb-muted)}
.tbviz .at-table thead th:first-child{text-align:left}
.tbviz .at-table tr.on>*{background:var(--tb-fill);font-weight:650}
`;var ee=5,w=t=>t.toFixed(2),D=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function _t(t,e,o,[a,i],{layer:l,head:s,query:c}){let u=e[l*i+s],g=u[c],x=Q(u),E=o?c+1:t.length,T=g.map((y,m)=>m).slice(0,E).sort((y,m)=>g[m]-g[y]||y-m).slice(0,ee).filter(y=>g[y]).map(y=>`${w(g[y]/O)} to ${y} “${D(t[y])}”`);return`Attention of ${t.length} tokens, ${a} layer${a===1?"":"s"} of ${i} head${i===1?"":"s"}, ${o?"causal, so that no query attends to a later key":"not causal"}. Layer ${l}, head ${s}, query ${c} “${D(t[c])}”: weight ${T.join(", ")}; the row sums to ${w(g.reduce((y,m)=>y+m,0)/O)}, its entropy is ${w(G(g))} of at most ${w(Math.log2(E))} bits. Means of this head over the queries from 1 on: entropy ${w(x.entropy)} bits, weight of the previous token ${w(x.previous)}, of the first ${w(x.first)}, of the query itself ${w(x.itself)}.`}function oe(t){let e=[""];for(let o of t){let a=e.at(-1);a&&a.length+o.length+2>84?e.push(`${o},`):e[e.length-1]=a?`${a} ${o},`:`${o},`}return e.map(o=>`    ${o}`).join(`
`)}function Ut(t,e,[,o],{layer:a,head:i,query:l}){let s=t[a*o+i][l];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${s.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${a}, ${i}, ${l}
attention = model.blocks[LAYER].attention
seen = {}


def keep(name):
    return lambda module, args, output: seen.update({name: output})


hooks = [getattr(attention, name).register_forward_hook(keep(name)) for name in ("query", "key")]
model.train(False)
with torch.no_grad():
    model(ids)
for hook in hooks:
    hook.remove()

q = seen["query"].unflatten(-1, (attention.heads, -1)).transpose(1, 2)  # (1, H, T, D)
k = seen["key"].unflatten(-1, (attention.kv_heads, -1)).transpose(1, 2)  # (1, kv_heads, T, D)
D = q.shape[-1]
if model.position_embedding is None:  # rotary positions turn queries and keys
    tables = rotary_tables(torch.arange(ids.shape[1], device=ids.device), D, model.config.rope_base)
    q, k = rotate(q, *tables), rotate(k, *tables)
q = q[0, HEAD, QUERY]  # (D,)
k = k[0, HEAD * attention.kv_heads // attention.heads]  # (T, D)
scores = k @ q / D**0.5  # (T,)
${e?`scores[QUERY + 1 :] = float("-inf")  # later keys
`:""}row = scores.softmax(-1)
print(row)

# The figure keeps weights in 255ths.
shown = torch.tensor([
${oe(s.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var ae="Arrow keys move from head to head in the overview, and from query to query in the text; a click on a row of the large map chooses its query. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",Ht=["layer","head","query"],lt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],Rt=t=>Lt(t).map(([e,o])=>b("path",{d:o,class:"at-cell","fill-opacity":e/Y})),et=(t,e)=>Math.max(0,Math.min(e-1,t));function re({model:t,el:e}){let o=st({model:t,el:e,title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token to see where it looks.",describe:ae});o.css(Dt);let[a,i,l,s]=["tokens","causal","layers","heads"].map(n=>t.get(n)),c=a.length,u=qt(t.get("packed"),c,i),g=u.map(Q),x=()=>Object.fromEntries(Ht.map(n=>[n,t.get(n)])),E=()=>t.get("layer")*s+t.get("head"),$=n=>o.set({layer:Math.floor(n/s),head:n%s}),T=Object.fromEntries(Object.keys(N).map(n=>[n,Ct(u,n)])),y=`M1 0${"v1h1".repeat(c-1)}V0z`,m=null,A=it({key:nt(e,"attention",t.get("link")),el:e,get:x,put:n=>{typeof n=="string"?Object.hasOwn(N,n)&&$(T[n]):jt(n,{layers:l,heads:s,size:c})&&o.set(n)}});o.defer(A.cleanup);let J=Object.entries(N).map(([n,d])=>P(d.label,()=>{$(T[n])})),L=r("p",{class:"at-note",role:"status"}),B=u.map((n,d)=>{let h=q("at-hatch"),[v,M]=[Math.floor(d/s),d%s],p=lt.map(([z,tt])=>`${tt} ${w(g[d][z])}`).join("; ");return r("button",{type:"button",class:"at-head","aria-label":`layer ${v}, head ${M}; ${p}`,onclick:()=>$(d)},b("svg",{viewBox:`0 0 ${c} ${c}`,"aria-hidden":"true"},i&&K(h,c/36),Rt(n),b("rect",{width:c,height:c,class:"at-edge"})),`${v}.${M}`)}),I=r("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${s}, minmax(2.4rem, 5.4rem))`}},B);I.addEventListener("keydown",n=>{let{layer:d,head:h}=x(),v={ArrowRight:[d,h+1],ArrowLeft:[d,h-1],ArrowDown:[d+1,h],ArrowUp:[d-1,h],Home:[0,0],End:[l-1,s-1]}[n.key];v&&(n.preventDefault(),m=I,o.set({layer:et(v[0],l),head:et(v[1],s)}),at())});function K(n,d){let h=5*d;return[b("defs",{},b("pattern",{id:n,width:h,height:h,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},b("path",{d:`M0 0v${h}`,class:"at-line",style:{strokeWidth:.7*d}}))),b("path",{d:y,fill:`url(#${n})`})]}let f=Math.min(24,300/c),[k,S]=[72,20],j=b("svg",{class:"at-svg",role:"img",viewBox:`0 0 ${k+c*f+4} ${S+c*f+4}`,style:{maxWidth:`${k+c*f+4}px`}});j.addEventListener("click",n=>{let d=j.getBoundingClientRect(),h=(n.clientY-d.top)/d.height*(S+c*f+4)-S;h>=0&&o.set({query:et(Math.floor(h/f),c)})});let _=(...n)=>b("svg",{width:16,height:12,"aria-hidden":"true",viewBox:"0 0 16 12"},n,b("rect",{x:.5,y:.5,width:15,height:11,class:"at-edge"})),X=q("at-hatch"),Bt=r("div",{class:"at-key"},[1,.25,.05].map(n=>r("span",{},_(b("rect",{width:16,height:12,class:"at-cell","fill-opacity":Math.round(Y*Math.sqrt(n))/Y})),w(n))),i&&r("span",{},_(b("defs",{},b("pattern",{id:X,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},b("path",{d:"M0 0v5",class:"at-line"}))),b("rect",{width:16,height:12,fill:`url(#${X})`})),"masked: later than the query")),ct=r("p",{class:"at-title"}),It=q("at-hatch"),dt=Math.ceil(12/f),pt=r("p",{class:"at-title"}),F=r("div",{class:"at-strip",role:"toolbar","aria-label":"Query"}),ft=r("p",{class:"at-small"});F.addEventListener("keydown",n=>{let d=t.get("query"),h={ArrowRight:d+1,ArrowDown:d+1,ArrowLeft:d-1,ArrowUp:d-1,Home:0,End:c-1}[n.key];h!==void 0&&(n.preventDefault(),m=F,o.set({query:et(h,c)}),at())});let ut=r("dl",{class:"at-lines"}),mt=r("p",{class:"at-title"}),U=u.map((n,d)=>r("tr",{},r("th",{scope:"row"},`layer ${Math.floor(d/s)}, head ${d%s}`),lt.map(([h])=>r("td",{},w(g[d][h]))))),H=r("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},r("table",{class:"at-table"},r("thead",{},r("tr",{},r("th",{scope:"col"},"mean over queries"),lt.map(([,n])=>r("th",{scope:"col"},n)))),r("tbody",{},U)));function Ft(n,{layer:d,head:h,query:v}){j.setAttribute("aria-label",`Weights of layer ${d}, head ${h}, queries down, keys across; the words below give the row of query ${v}`),C(j,b("text",{x:k,y:12,class:"at-axis"},"keys →"),b("text",{x:k-6,y:12,class:"at-axis","text-anchor":"end"},"queries ↓"),b("g",{transform:`translate(${k} ${S}) scale(${f})`},i&&K(It,1.2/f),Rt(n),b("rect",{width:c,height:c,class:"at-edge"}),b("rect",{y:v,width:c,height:1,class:"at-row"})),a.map((M,p)=>(p===v||p%dt===0&&Math.abs(p-v)>=dt)&&b("text",{x:k-6,y:S+(p+.5)*f+4,"text-anchor":"end",class:p===v?"on":null},`${p} ${D(M).slice(0,7)}`)))}function Pt(n,d){let h=Math.max(...n);C(F,a.map((M,p)=>{let z=i&&p>d,tt=z?"–":n[p]?w(n[p]/O):"0";return r("button",{type:"button",class:`at-token${z?" off":""}`,tabindex:p===d?0:-1,"aria-pressed":String(p===d),"aria-label":`token ${p} ${D(M)}, ${z?"masked":`weight ${tt}`}`,onclick:()=>{m=F,o.set({query:p})}},D(M),r("span",{class:"at-track","aria-hidden":"true"},r("i",{style:{height:`${(100*n[p]/h).toFixed(1)}%`}})),r("small",{},tt))}));let v=i?d+1:c;ft.textContent=`The row sums to ${w(n.reduce((M,p)=>M+p,0)/O)} over ${v} key${v===1?"":"s"}; entropy ${w(G(n))} of at most ${w(Math.log2(v))} bits. A full bar is the row's largest weight.`}let Z=!1,ht=!0,ot=0;o.defer(()=>clearTimeout(ot));function bt(){Z=!1;let n=x(),d=E();B.forEach((p,z)=>{p.setAttribute("aria-pressed",String(z===d)),p.tabIndex=z===d?0:-1});let h=Object.keys(N).filter(p=>T[p]===d);Object.keys(N).forEach((p,z)=>J[z].setAttribute("aria-pressed",String(h.includes(p))));let v=h.map(p=>N[p].note).join(" ");L.textContent!==v&&(L.textContent=v),L.hidden=!v,ct.textContent=`Layer ${n.layer}, head ${n.head}`,Ft(u[d],n),pt.textContent=`Query ${n.query} “${D(a[n.query])}”: weight of each key`,Pt(u[d][n.query],n.query),mt.textContent="This head, mean over the queries from 1 on",C(ut,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([p,z])=>[r("dt",{},z),r("dd",{},w(g[d][p])),r("dd",{class:"at-meter","aria-hidden":"true"},r("i",{style:{width:`${(100*g[d][p]).toFixed(1)}%`}}))]),r("dt",{},"entropy of a row"),r("dd",{},w(g[d].entropy)),r("dd",{style:{textAlign:"left"}},"bits")),U.forEach((p,z)=>p.classList.toggle("on",z===d)),(U[d].offsetTop<H.scrollTop||U[d].offsetTop+U[d].offsetHeight>H.scrollTop+H.clientHeight)&&(H.scrollTop=U[d].offsetTop-H.clientHeight/2),m?.querySelector("[aria-pressed='true']")?.focus(),m=null,clearTimeout(ot);let M=()=>o.say(_t(a,u,i,[l,s],n));ht?M():ot=setTimeout(M,250),ht=!1}let at=()=>{Z||queueMicrotask(()=>Z&&bt()),Z=!0};for(let n of Ht)o.on(n,at);return o.lay({stage:r("div",{class:"at at-main"},r("div",{class:"at-box"},ct,j,Bt),r("div",{class:"at-box"},pt,F)),readout:ft,drawer:[L,r("div",{class:"at-chips"},r("p",{class:"at-title"},"Go to the head with the most weight on …, or the extreme of entropy"),R("Presets",J)),r("div",{class:"at-bar"},W("Copy as PyTorch",()=>Ut(u,i,[l,s],x())),A),r("div",{class:"at-all"},r("div",{class:"at-box"},r("p",{class:"at-title"},"All heads, layer.head: layers down, heads across"),r("div",{class:"at-scroll"},I)),r("div",{class:"at-box"},H)),r("div",{class:"at-box"},mt,ut)]}),bt(),o.cleanup}var We={render:re};export{We as default};
