var Wt="http://www.w3.org/2000/svg",Ft=Math.random().toString(36).slice(2,8),It=0,D=(t="tb")=>`${t}-${Ft}-${It+=1}`,r=(t,o,...e)=>xt(document.createElement(t),o,e),v=(t,o,...e)=>xt(document.createElementNS(Wt,t),o,e);function xt(t,o,e){for(let[a,i]of Object.entries(o??{}))i===!1||i===null||i===void 0||(typeof i=="function"&&a.startsWith("on")?t.addEventListener(a.slice(2),i):a==="style"&&typeof i=="object"?Pt(t,i):t.setAttribute(a,i===!0?"":i));return t.append(...yt(e)),t}function Pt(t,o){for(let[e,a]of Object.entries(o))e.startsWith("--")?t.style.setProperty(e,a):t.style[e]=a}var yt=t=>t.flat(1/0).filter(o=>o!=null&&o!==!1&&o!=="");function R(t,...o){return t.replaceChildren(...yt(o)),t}function Z(t,o,e={}){let a=r("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:i=>a.getAttribute("aria-disabled")!=="true"&&o(i)},t);return a.disable=i=>i?a.setAttribute("aria-disabled","true"):a.removeAttribute("aria-disabled"),a.disable(!!e.disabled),a}var wt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function G(t,o){let e=r("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},o),a=()=>[...e.querySelectorAll("button, a[href]")].filter(d=>!d.hidden),i=d=>a().forEach(c=>c.tabIndex=c===d?0:-1);return e.addEventListener("focusin",d=>i(d.target.closest("button, a[href]"))),e.addEventListener("keydown",d=>{let c=a(),s=c.indexOf(d.target);if(s<0)return;let h=-1;d.key in wt?h=(s+wt[d.key]+c.length)%c.length:d.key==="Home"?h=0:d.key==="End"&&(h=c.length-1),!(h<0)&&(d.preventDefault(),c[h].focus())}),i(a()[0]),e.reset=()=>i(a().find(d=>d.tabIndex===0)??a()[0]),e}async function kt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Vt(t)}}function Vt(t){let o=document.activeElement,e=r("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let a=!1;try{a=document.execCommand("copy")}catch{a=!1}return e.remove(),o?.focus?.(),a}function tt(t,o,e={}){let a=r("span",{class:"tbviz-status",role:"status"}),i=0,d=s=>{clearTimeout(i),a.textContent=s,i=setTimeout(()=>a.textContent="",2500)},c=Z(t,async()=>{let s=o();d(await kt(s)?"Copied":`Copying is not allowed here. Copy this: ${s}`)},e);return r("span",{class:"tbviz-copy"},c,a)}var Gt=t=>{let o=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...o)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Qt=t=>{let o=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(o,e=>e.charCodeAt(0))))},et=(t,o)=>typeof o=="string"&&/^[\w-]+$/.test(o)?`#tbviz-${t}:${o}`:`#tbviz-${t}=${Gt(o)}`;function zt(t,o){let e;try{e=decodeURIComponent(o)}catch{return}for(let[a,i]of[[":",d=>d],["=",Qt]]){let d=`#tbviz-${t}${a}`;if(e.startsWith(d))try{return i(e.slice(d.length))}catch{return}}}var mt=t=>t.closest(".viz-mount");function ht(t,o,e){let a=mt(t);return e||!a?e||o:`${o}-${[...document.querySelectorAll(".viz-mount")].indexOf(a)+1}`}var $t=new WeakMap,At=(t,o)=>$t.set(t,o);function bt({key:t,get:o,put:e,el:a,label:i="Copy link"}){let d=!!mt(a),c=$t.get(a),s=b=>`${location.href.split("#")[0]}${et(t,b)}`,h=d?tt(i,()=>s(o()),{title:"A link that opens this figure as it is now"}):r("span",{hidden:!0}),[x,y,A]=[void 0,"",0],T=()=>{let b=zt(t,location.hash);b===void 0&&!y||(e(b===void 0?x:b),clearTimeout(A),y=b===void 0?"":et(t,o()),b!==void 0&&a.scrollIntoView({block:a.clientHeight>innerHeight?"start":"nearest"}))},M=()=>{let b=o(),O=et(t,b);if(!(O===y||!y&&O===et(t,x))){if(typeof b=="string")history.pushState(null,"",O);else if(y)history.replaceState(null,"",O);else return;y=O}},w=()=>{clearTimeout(A),A=setTimeout(M,250)};return h.cleanup=()=>{clearTimeout(A),removeEventListener("hashchange",T),c?.off("change",w)},h.start=()=>{d&&(x=o(),addEventListener("hashchange",T),T(),c?.on("change",w))},queueMicrotask(h.start),h}var Et=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Mt=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Ot=(...t)=>t.map(o=>`${o} .tbviz`).join(","),St=`
.tbviz{${Et}}
@media (prefers-color-scheme:dark){.tbviz{${Mt}}}
${Ot("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${Et}}
${Ot("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Mt}}
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
.tbviz-drawn{touch-action:pan-y pinch-zoom}
@media (pointer:coarse){.tbviz-cells :is([role=gridcell],.tbviz-small){pointer-events:none;cursor:inherit}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var Tt=3;function gt({model:t,el:o,contract:e,kind:a,reset:i={},changing:d,changed:c}){let s=[];At(o,t);let h=D(),x=r("div",{class:"tbviz-stage"}),y=r("div",{class:"tbviz-bar"}),A=r("div",{class:"tbviz-readout"}),T=r("div",{class:"tbviz-rest"}),M=r("p",{class:"tbviz-words","aria-live":"polite"}),w=r("p",{class:"tbviz-help",id:h},e.help),b=r("details",{class:"tbviz-drawer"},r("summary",{},"Settings and numbers"),T,w),O=r("style",{},St),H=r("div",{class:"tbviz",role:"group","aria-label":e.title,"aria-describedby":e.help?h:null},O,r("div",{class:"tbviz-head"},r("p",{class:"tbviz-finding"},e.finding),r("p",{class:"tbviz-invitation"},e.invitation)),x,y,A,M,b),ft=({presets:l=[],...f})=>{let u=l.slice(Tt),$=[[x,[f.stage]],[y,[l.length>0&&G("Presets",l.slice(0,Tt)),f.bar]],[A,[f.readout]],[T,[u.length>0&&r("div",{},r("p",{class:"tbviz-title"},"Start from"),G("More presets",u)),f.drawer]]];for(let[C,V]of $)R(C,V.flat()),C.hidden=!C.childNodes.length};H.addEventListener("keydown",l=>l.stopPropagation());let W=l=>{for(let[f,u]of Object.entries(l))t.set(f,u);t.save_changes()},F=l=>{M.textContent!==l&&(M.textContent=l),t.get("words")!==l&&W({words:l})},U=0,Y=!1,S=(l,{ms:f=250,quiet:u=!1}={})=>{clearTimeout(U),Y?u||(U=setTimeout(()=>F(l()),f)):F(l()),Y=!0};s.push(()=>clearTimeout(U));let j=(l,f)=>{l.textContent!==f&&(l.textContent=f),l.hidden=!f},N=(l,f)=>{let u=()=>f(t.get(l));t.on(`change:${l}`,u),s.push(()=>t.off(`change:${l}`,u))},q=()=>Object.fromEntries(e.names.map(l=>[l,t.get(l)])),J=l=>{d?.(),W(l),c?.(l)},I=l=>J({...e.start,...i,...l}),nt=l=>I(e.settingOf(l)),P={},ut=(l=nt,f=e.presets)=>{for(let[u,{label:$}]of Object.entries(f))P[u]=Z($,()=>l(u));return Object.values(P)},it=(l=[])=>{let f=[l].flat();for(let[u,$]of Object.entries(P))$.setAttribute("aria-pressed",String(f.includes(u)));return f.map(u=>e.presets[u].note).join(" ")},st=({choose:l=nt,presets:f=e.presets,accepts:u=e.isSetting,start:$=I,get:C=()=>e.presetOf(q())??q()}={})=>{let V=n=>typeof n!="string"?u(n)&&$(n):Object.hasOwn(f,n)&&l(n),K=bt({key:ht(o,a,t.get("link")),el:o,get:C,put:V});return s.push(K.cleanup),K},_=(l,f=e.names)=>{let u=!1,$=()=>{u||queueMicrotask(()=>{u=!1,l()}),u=!0};for(let C of f)N(C,$);return $},lt=(l,f)=>{let u=l.clientWidth,$=new ResizeObserver(()=>{l.clientWidth&&l.clientWidth!==u&&(u=l.clientWidth,f())});$.observe(l),s.push(()=>$.disconnect())},ct=()=>{for(;s.length;)s.pop()();H.remove()};return o.append(H),{root:H,stage:x,words:M,help:w,lay:ft,say:F,soon:S,tell:j,on:N,set:W,setting:q,put:J,start:I,chips:ut,mark:it,link:st,follow:_,watch:lt,defer:l=>s.push(l),cleanup:ct,css:l=>O.append(l)}}var Q={title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token to see where it looks.",help:"Arrow keys move from head to head in the overview, and from query to query in the text; a click on a row of the large map chooses its query. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{levels:ot}=Q,E=255,qt=t=>Array.from({length:t},(o,e)=>e),Jt=t=>t.reduce((o,e)=>o+e,0);function Ct(t,o,e){let a=Uint8Array.from(atob(t),c=>c.charCodeAt(0)),i=[],d=0;for(;d<a.length;)i.push(qt(o).map(c=>{let s=e?c+1:o,h=[...a.subarray(d,d+s),...Array(o-s).fill(0)];return d+=s,h}));return i}function at(t){let o=0;for(let e of t)e&&(o-=e/E*Math.log2(e/E));return o}function rt(t){let o=qt(t.length).slice(1),e=a=>Jt(o.map(a));return{entropy:e(a=>at(t[a]))/o.length,previous:e(a=>t[a][a-1])/(E*o.length),first:e(a=>t[a][0])/(E*o.length),itself:e(a=>t[a][a])/(E*o.length)}}function Lt(t,o){let e=t.map(rt).map(a=>o==="sharp"?-a.entropy:a[o==="broad"?"entropy":o]);return e.indexOf(Math.max(...e))}var Kt=t=>t?Math.max(1,Math.floor(ot*Math.sqrt(t/E)+.5)):0;function jt(t){let o={};return t.forEach((e,a)=>{var d;let i=e.map(Kt);for(let c=0,s=0;c<i.length;c=s){for(;s<i.length&&i[s]===i[c];)s+=1;i[c]&&(o[d=i[c]]??(o[d]=[])).push(`M${c} ${a}h${s-c}v1h-${s-c}z`)}}),Object.entries(o).map(([e,a])=>[Number(e),a.join("")])}function Nt(t,{layers:o,heads:e,size:a}){if(!t||typeof t!="object")return!1;let i={layer:o,head:e,query:a};return Object.entries(t).every(([d,c])=>Object.hasOwn(i,d)&&Number.isInteger(c)&&c>=0&&c<i[d])}var Dt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Rt=`
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
.at-svg text{font:12px ${Dt};fill:var(--tb-fg)}
.at-svg .at-axis{font:12px system-ui,sans-serif;fill:var(--tb-muted)}
.at-svg .on{font-weight:700}
.at-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);align-items:center}
.at-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.at-strip{display:flex;gap:3px;overflow-x:auto;padding:3px}
.at-strip>*{flex:none}
.tbviz .at-token{display:inline-flex;flex-direction:column;align-items:stretch;min-width:2.15rem;padding:1px 2px 0;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:4px;cursor:pointer;font:max(12px,.9em)/1.25 ${Dt};text-align:center;touch-action:manipulation;white-space:pre}
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
`;var Xt=5,z=t=>t.toFixed(2),B=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Ut(t,o,e,[a,i],{layer:d,head:c,query:s}){let h=o[d*i+c],x=h[s],y=rt(h),A=e?s+1:t.length,M=x.map((w,b)=>b).slice(0,A).sort((w,b)=>x[b]-x[w]||w-b).slice(0,Xt).filter(w=>x[w]).map(w=>`${z(x[w]/E)} to ${w} “${B(t[w])}”`);return`Attention of ${t.length} tokens, ${a} layer${a===1?"":"s"} of ${i} head${i===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${d}, head ${c}, query ${s} “${B(t[s])}”: weight ${M.join(", ")}; the row sums to ${z(x.reduce((w,b)=>w+b,0)/E)}, its entropy is ${z(at(x))} of at most ${z(Math.log2(A))} bits. Means of this head over the queries from 1 on: entropy ${z(y.entropy)} bits, weight of the previous token ${z(y.previous)}, of the first ${z(y.first)}, of the query itself ${z(y.itself)}.`}function Zt(t){let o=[""];for(let e of t){let a=o.at(-1);a&&a.length+e.length+2>84?o.push(`${e},`):o[o.length-1]=a?`${a} ${e},`:`${e},`}return o.map(e=>`    ${e}`).join(`
`)}function _t(t,o,[,e],{layer:a,head:i,query:d}){let c=t[a*e+i][d];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${c.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${a}, ${i}, ${d}
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
${o?`scores[QUERY + 1 :] = float("-inf")  # later keys
`:""}row = scores.softmax(-1)
print(row)

# The figure keeps weights in 255ths.
shown = torch.tensor([
${Zt(c.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var Bt=["layer","head","query"],vt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],Ht=t=>jt(t).map(([o,e])=>v("path",{d:e,class:"at-cell","fill-opacity":o/ot})),pt=(t,o)=>Math.max(0,Math.min(o-1,t));function te({model:t,el:o}){let e=gt({model:t,el:o,contract:Q,kind:"attention"});e.css(Rt);let[a,i,d,c]=["tokens","causal","layers","heads"].map(n=>t.get(n)),s=a.length,h=Ct(t.get("packed"),s,i),x=h.map(rt),y=()=>Object.fromEntries(Bt.map(n=>[n,t.get(n)])),A=()=>t.get("layer")*c+t.get("head"),T=n=>e.set({layer:Math.floor(n/c),head:n%c}),M=Object.fromEntries(Object.keys(Q.presets).map(n=>[n,Lt(h,n)])),w=`M1 0${"v1h1".repeat(s-1)}V0z`,b=null,O=n=>T(M[n]),H=e.link({choose:O,start:e.set,accepts:n=>Nt(n,{layers:d,heads:c,size:s}),get:y}),ft=e.chips(O),W=r("p",{class:"at-note",role:"status"}),F=h.map((n,p)=>{let m=D("at-hatch"),[g,L]=[Math.floor(p/c),p%c],k=vt.map(([X,dt])=>`${dt} ${z(x[p][X])}`).join("; ");return r("button",{type:"button",class:"at-head","aria-label":`layer ${g}, head ${L}; ${k}`,onclick:()=>T(p)},v("svg",{viewBox:`0 0 ${s} ${s}`,"aria-hidden":"true"},i&&Y(m,s/36),Ht(n),v("rect",{width:s,height:s,class:"at-edge"})),`${g}.${L}`)}),U=r("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${c}, minmax(2.4rem, 5.4rem))`}},F);U.addEventListener("keydown",n=>{let{layer:p,head:m}=y(),g={ArrowRight:[p,m+1],ArrowLeft:[p,m-1],ArrowDown:[p+1,m],ArrowUp:[p-1,m],Home:[0,0],End:[d-1,c-1]}[n.key];g&&(n.preventDefault(),b=U,e.set({layer:pt(g[0],d),head:pt(g[1],c)}),K())});function Y(n,p){let m=5*p;return[v("defs",{},v("pattern",{id:n,width:m,height:m,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},v("path",{d:`M0 0v${m}`,class:"at-line",style:{strokeWidth:.7*p}}))),v("path",{d:w,fill:`url(#${n})`})]}let S=Math.min(24,300/s),[j,N]=[72,20],q=v("svg",{class:"at-svg",role:"img",viewBox:`0 0 ${j+s*S+4} ${N+s*S+4}`,style:{maxWidth:`${j+s*S+4}px`}});q.addEventListener("click",n=>{let p=q.getBoundingClientRect(),m=(n.clientY-p.top)/p.height*(N+s*S+4)-N;m>=0&&e.set({query:pt(Math.floor(m/S),s)})});let J=(...n)=>v("svg",{width:16,height:12,"aria-hidden":"true",viewBox:"0 0 16 12"},n,v("rect",{x:.5,y:.5,width:15,height:11,class:"at-edge"})),I=D("at-hatch"),nt=r("div",{class:"at-key"},[1,.25,.05].map(n=>r("span",{},J(v("rect",{width:16,height:12,class:"at-cell","fill-opacity":Math.round(ot*Math.sqrt(n))/ot})),z(n))),i&&r("span",{},J(v("defs",{},v("pattern",{id:I,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},v("path",{d:"M0 0v5",class:"at-line"}))),v("rect",{width:16,height:12,fill:`url(#${I})`})),"masked: later than the query")),P=r("p",{class:"at-title"}),ut=D("at-hatch"),it=Math.ceil(12/S),st=r("p",{class:"at-title"}),_=r("div",{class:"at-strip",role:"toolbar","aria-label":"Query"}),lt=r("p",{class:"at-small"});_.addEventListener("keydown",n=>{let p=t.get("query"),m={ArrowRight:p+1,ArrowDown:p+1,ArrowLeft:p-1,ArrowUp:p-1,Home:0,End:s-1}[n.key];m!==void 0&&(n.preventDefault(),b=_,e.set({query:pt(m,s)}),K())});let ct=r("dl",{class:"at-lines"}),l=r("p",{class:"at-title"}),f=h.map((n,p)=>r("tr",{},r("th",{scope:"row"},`layer ${Math.floor(p/c)}, head ${p%c}`),vt.map(([m])=>r("td",{},z(x[p][m]))))),u=r("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},r("table",{class:"at-table"},r("thead",{},r("tr",{},r("th",{scope:"col"},"mean over queries"),vt.map(([,n])=>r("th",{scope:"col"},n)))),r("tbody",{},f)));function $(n,{layer:p,head:m,query:g}){q.setAttribute("aria-label",`Weights of layer ${p}, head ${m}, queries down, keys across; the words below give the row of query ${g}`),R(q,v("text",{x:j,y:12,class:"at-axis"},"keys →"),v("text",{x:j-6,y:12,class:"at-axis","text-anchor":"end"},"queries ↓"),v("g",{transform:`translate(${j} ${N}) scale(${S})`},i&&Y(ut,1.2/S),Ht(n),v("rect",{width:s,height:s,class:"at-edge"}),v("rect",{y:g,width:s,height:1,class:"at-row"})),a.map((L,k)=>(k===g||k%it===0&&Math.abs(k-g)>=it)&&v("text",{x:j-6,y:N+(k+.5)*S+4,"text-anchor":"end",class:k===g?"on":null},`${k} ${B(L).slice(0,7)}`)))}function C(n,p){let m=Math.max(...n);R(_,a.map((L,k)=>{let X=i&&k>p,dt=X?"–":n[k]?z(n[k]/E):"0";return r("button",{type:"button",class:`at-token${X?" off":""}`,tabindex:k===p?0:-1,"aria-pressed":String(k===p),"aria-label":`token ${k} ${B(L)}, ${X?"masked":`weight ${dt}`}`,onclick:()=>{b=_,e.set({query:k})}},B(L),r("span",{class:"at-track","aria-hidden":"true"},r("i",{style:{height:`${(100*n[k]/m).toFixed(1)}%`}})),r("small",{},dt))}));let g=i?p+1:s;lt.textContent=`The row sums to ${z(n.reduce((L,k)=>L+k,0)/E)} over ${g} key${g===1?"":"s"}; entropy ${z(at(n))} of at most ${z(Math.log2(g))} bits. A full bar is the row's largest weight.`}function V(){let n=y(),p=A();F.forEach((m,g)=>{m.setAttribute("aria-pressed",String(g===p)),m.tabIndex=g===p?0:-1}),e.tell(W,e.mark(Object.keys(Q.presets).filter(m=>M[m]===p))),P.textContent=`Layer ${n.layer}, head ${n.head}`,$(h[p],n),st.textContent=`Query ${n.query} “${B(a[n.query])}”: weight of each key`,C(h[p][n.query],n.query),l.textContent="This head, mean over the queries from 1 on",R(ct,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([m,g])=>[r("dt",{},g),r("dd",{},z(x[p][m])),r("dd",{class:"at-meter","aria-hidden":"true"},r("i",{style:{width:`${(100*x[p][m]).toFixed(1)}%`}}))]),r("dt",{},"entropy of a row"),r("dd",{},z(x[p].entropy)),r("dd",{style:{textAlign:"left"}},"bits")),f.forEach((m,g)=>m.classList.toggle("on",g===p)),(f[p].offsetTop<u.scrollTop||f[p].offsetTop+f[p].offsetHeight>u.scrollTop+u.clientHeight)&&(u.scrollTop=f[p].offsetTop-u.clientHeight/2),b?.querySelector("[aria-pressed='true']")?.focus(),b=null,e.soon(()=>Ut(a,h,i,[d,c],n))}let K=e.follow(V,Bt);return e.lay({stage:r("div",{class:"at at-main"},r("div",{class:"at-box"},P,q,nt),r("div",{class:"at-box"},st,_)),readout:lt,drawer:[W,r("div",{class:"at-chips"},r("p",{class:"at-title"},"Go to the head with the most weight on …, or the extreme of entropy"),G("Presets",ft)),r("div",{class:"at-bar"},tt("Copy as PyTorch",()=>_t(h,i,[d,c],y())),H),r("div",{class:"at-all"},r("div",{class:"at-box"},r("p",{class:"at-title"},"All heads, layer.head: layers down, heads across"),r("div",{class:"at-scroll"},U)),r("div",{class:"at-box"},u)),r("div",{class:"at-box"},l,ct)]}),V(),e.cleanup}var Qe={render:te};export{Qe as default};
