var Ft="http://www.w3.org/2000/svg",Pt=Math.random().toString(36).slice(2,8),Wt=0,q=(t="tb")=>`${t}-${Pt}-${Wt+=1}`,r=(t,o,...e)=>gt(document.createElement(t),o,e),b=(t,o,...e)=>gt(document.createElementNS(Ft,t),o,e);function gt(t,o,e){for(let[a,i]of Object.entries(o??{}))i===!1||i===null||i===void 0||(typeof i=="function"&&a.startsWith("on")?t.addEventListener(a.slice(2),i):a==="style"&&typeof i=="object"?Vt(t,i):t.setAttribute(a,i===!0?"":i));return t.append(...vt(e)),t}function Vt(t,o){for(let[e,a]of Object.entries(o))e.startsWith("--")?t.style.setProperty(e,a):t.style[e]=a}var vt=t=>t.flat(1/0).filter(o=>o!=null&&o!==!1&&o!=="");function C(t,...o){return t.replaceChildren(...vt(o)),t}function P(t,o,e={}){let a=r("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:i=>a.getAttribute("aria-disabled")!=="true"&&o(i)},t);return a.disable=i=>i?a.setAttribute("aria-disabled","true"):a.removeAttribute("aria-disabled"),a.disable(!!e.disabled),a}var xt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function R(t,o){let e=r("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},o),a=()=>[...e.querySelectorAll("button, a[href]")],i=c=>a().forEach(s=>s.tabIndex=s===c?0:-1);return e.addEventListener("focusin",c=>i(c.target.closest("button, a[href]"))),e.addEventListener("keydown",c=>{let s=a(),l=s.indexOf(c.target);if(l<0)return;let u=-1;c.key in xt?u=(l+xt[c.key]+s.length)%s.length:c.key==="Home"?u=0:c.key==="End"&&(u=s.length-1),!(u<0)&&(c.preventDefault(),s[u].focus())}),i(a()[0]),e.reset=()=>i(a().find(c=>c.tabIndex===0)??a()[0]),e}async function yt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Yt(t)}}function Yt(t){let o=document.activeElement,e=r("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let a=!1;try{a=document.execCommand("copy")}catch{a=!1}return e.remove(),o?.focus?.(),a}function W(t,o,e={}){let a=r("span",{class:"tbviz-status",role:"status"}),i=0,c=l=>{clearTimeout(i),a.textContent=l,i=setTimeout(()=>a.textContent="",2500)},s=P(t,async()=>{let l=o();c(await yt(l)?"Copied":`Copying is not allowed here. Copy this: ${l}`)},e);return r("span",{class:"tbviz-copy"},s,a)}var Gt=t=>{let o=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...o)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Qt=t=>{let o=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(o,e=>e.charCodeAt(0))))},at=(t,o)=>typeof o=="string"&&/^[\w-]+$/.test(o)?`#tbviz-${t}:${o}`:`#tbviz-${t}=${Gt(o)}`;function wt(t,o){let e;try{e=decodeURIComponent(o)}catch{return}for(let[a,i]of[[":",c=>c],["=",Qt]]){let c=`#tbviz-${t}${a}`;if(e.startsWith(c))try{return i(e.slice(c.length))}catch{return}}}var rt=t=>t.closest(".viz-mount");function nt(t,o,e){let a=rt(t);return e||!a?e||o:`${o}-${[...document.querySelectorAll(".viz-mount")].indexOf(a)+1}`}function it({key:t,get:o,put:e,el:a,label:i="Copy link"}){let c=!!rt(a),s=v=>`${location.href.split("#")[0]}${at(t,v)}`,l=c?W(i,()=>s(o()),{title:"A link that opens this figure as it is now"}):r("span",{hidden:!0}),u=v=>{let E=wt(t,location.hash);E!==void 0&&(e(E),v&&a.scrollIntoView({block:a.clientHeight>innerHeight?"start":"nearest"}))},g=()=>u(!0);return l.href=v=>c?at(t,v):"",l.cleanup=()=>removeEventListener("hashchange",g),l.start=()=>{c&&(addEventListener("hashchange",g),u(!0))},queueMicrotask(l.start),l}var kt=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,zt=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,$t=(...t)=>t.map(o=>`${o} .tbviz`).join(","),At=`
.tbviz{${kt}}
@media (prefers-color-scheme:dark){.tbviz{${zt}}}
${$t("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${kt}}
${$t("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${zt}}
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
@media (max-width:480px){.tbviz{padding:.6rem;gap:.5rem}.tbviz-head{line-height:1.25}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var St=3;function st({model:t,el:o,title:e,finding:a,invitation:i,describe:c}){let s=[],l=q(),u=r("div",{class:"tbviz-stage"}),g=r("div",{class:"tbviz-bar"}),v=r("div",{class:"tbviz-readout"}),E=r("div",{class:"tbviz-rest"}),O=r("p",{class:"tbviz-words","aria-live":"polite"}),M=r("p",{class:"tbviz-help",id:l}),y=r("details",{class:"tbviz-drawer"},r("summary",{},"Settings and numbers"),E,M),w=r("style",{},At),T=r("div",{class:"tbviz",role:"group","aria-label":e,"aria-describedby":typeof c=="string"?l:null},w,r("div",{class:"tbviz-head"},r("p",{class:"tbviz-finding"},a),r("p",{class:"tbviz-invitation"},i)),u,g,v,O,y),Q=({presets:f=[],...k})=>{let $=f.slice(St),j=[[u,[k.stage]],[g,[f.length>0&&R("Presets",f.slice(0,St)),k.bar]],[v,[k.readout]],[E,[$.length>0&&r("div",{},r("p",{class:"tbviz-title"},"Start from"),R("More presets",$)),k.drawer]]];for(let[_,K]of j)C(_,K.flat()),_.hidden=!_.childNodes.length};typeof c=="string"?M.textContent=c:M.hidden=!0,T.addEventListener("keydown",f=>f.stopPropagation());let L=f=>{for(let[k,$]of Object.entries(f))t.set(k,$);t.save_changes()},B=f=>{O.textContent!==f&&(O.textContent=f),t.get("words")!==f&&L({words:f})},I=(f,k)=>{let $=()=>k(t.get(f));t.on(`change:${f}`,$),s.push(()=>t.off(`change:${f}`,$))},J=()=>{for(;s.length;)s.pop()();T.remove()};return o.append(T),typeof c=="function"&&B(c()),{root:T,stage:u,words:O,help:M,lay:Q,say:B,on:I,set:L,defer:f=>s.push(f),cleanup:J,css:f=>w.append(f)}}var Et={most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{presets:N,levels:V}=Et,S=255,Mt=t=>Array.from({length:t},(o,e)=>e),Kt=t=>t.reduce((o,e)=>o+e,0);function Ot(t,o,e){let a=Uint8Array.from(atob(t),s=>s.charCodeAt(0)),i=[],c=0;for(;c<a.length;)i.push(Mt(o).map(s=>{let l=e?s+1:o,u=[...a.subarray(c,c+l),...Array(o-l).fill(0)];return c+=l,u}));return i}function Y(t){let o=0;for(let e of t)e&&(o-=e/S*Math.log2(e/S));return o}function G(t){let o=Mt(t.length).slice(1),e=a=>Kt(o.map(a));return{entropy:e(a=>Y(t[a]))/o.length,previous:e(a=>t[a][a-1])/(S*o.length),first:e(a=>t[a][0])/(S*o.length),itself:e(a=>t[a][a])/(S*o.length)}}function Tt(t,o){let e=t.map(G).map(a=>o==="sharp"?-a.entropy:a[o==="broad"?"entropy":o]);return e.indexOf(Math.max(...e))}var Xt=t=>t?Math.max(1,Math.floor(V*Math.sqrt(t/S)+.5)):0;function qt(t){let o={};return t.forEach((e,a)=>{var c;let i=e.map(Xt);for(let s=0,l=0;s<i.length;s=l){for(;l<i.length&&i[l]===i[s];)l+=1;i[s]&&(o[c=i[s]]??(o[c]=[])).push(`M${s} ${a}h${l-s}v1h-${l-s}z`)}}),Object.entries(o).map(([e,a])=>[Number(e),a.join("")])}function Ct(t,{layers:o,heads:e,size:a}){if(!t||typeof t!="object")return!1;let i={layer:o,head:e,query:a};return Object.entries(t).every(([c,s])=>Object.hasOwn(i,c)&&Number.isInteger(s)&&s>=0&&s<i[c])}var Lt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',jt=`
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
.at-svg text{font:12px ${Lt};fill:var(--tb-fg)}
.at-svg .at-axis{font:12px system-ui,sans-serif;fill:var(--tb-muted)}
.at-svg .on{font-weight:700}
.at-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em);align-items:center}
.at-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.at-strip{display:flex;flex-wrap:wrap;gap:4px 3px}
.tbviz .at-token{display:inline-flex;flex-direction:column;align-items:stretch;min-width:2.15rem;padding:1px 2px 0;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:4px;cursor:pointer;font:max(12px,.9em)/1.25 ${Lt};text-align:center;touch-action:manipulation;white-space:pre}
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
`;var Zt=5,x=t=>t.toFixed(2),D=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Nt(t,o,e,[a,i],{layer:c,head:s,query:l}){let u=o[c*i+s],g=u[l],v=G(u),E=e?l+1:t.length,M=g.map((y,w)=>w).slice(0,E).sort((y,w)=>g[w]-g[y]||y-w).slice(0,Zt).filter(y=>g[y]).map(y=>`${x(g[y]/S)} to ${y} “${D(t[y])}”`);return`Attention of ${t.length} tokens, ${a} layer${a===1?"":"s"} of ${i} head${i===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${c}, head ${s}, query ${l} “${D(t[l])}”: weight ${M.join(", ")}; the row sums to ${x(g.reduce((y,w)=>y+w,0)/S)}, its entropy is ${x(Y(g))} of at most ${x(Math.log2(E))} bits. Means of this head over the queries from 1 on: entropy ${x(v.entropy)} bits, weight of the previous token ${x(v.previous)}, of the first ${x(v.first)}, of the query itself ${x(v.itself)}.`}function te(t){let o=[""];for(let e of t){let a=o.at(-1);a&&a.length+e.length+2>84?o.push(`${e},`):o[o.length-1]=a?`${a} ${e},`:`${e},`}return o.map(e=>`    ${e}`).join(`
`)}function Dt(t,o,[,e],{layer:a,head:i,query:c}){let s=t[a*e+i][c];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${s.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${a}, ${i}, ${c}
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
${te(s.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var ee="Arrow keys move from head to head in the overview, and from query to query in the text; a click on a row of the large map chooses its query. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",_t=["layer","head","query"],lt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],Ut=t=>qt(t).map(([o,e])=>b("path",{d:e,class:"at-cell","fill-opacity":o/V})),tt=(t,o)=>Math.max(0,Math.min(o-1,t));function oe({model:t,el:o}){let e=st({model:t,el:o,title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token to see where it looks.",describe:ee});e.css(jt);let[a,i,c,s]=["tokens","causal","layers","heads"].map(n=>t.get(n)),l=a.length,u=Ot(t.get("packed"),l,i),g=u.map(G),v=()=>Object.fromEntries(_t.map(n=>[n,t.get(n)])),E=()=>t.get("layer")*s+t.get("head"),O=n=>e.set({layer:Math.floor(n/s),head:n%s}),M=Object.fromEntries(Object.keys(N).map(n=>[n,Tt(u,n)])),y=`M1 0${"v1h1".repeat(l-1)}V0z`,w=null,T=it({key:nt(o,"attention",t.get("link")),el:o,get:v,put:n=>{typeof n=="string"?Object.hasOwn(N,n)&&O(M[n]):Ct(n,{layers:c,heads:s,size:l})&&e.set(n)}});e.defer(T.cleanup);let Q=Object.entries(N).map(([n,d])=>P(d.label,()=>{O(M[n]),T.href(n)&&history.replaceState(null,"",T.href(n))})),L=r("p",{class:"at-note",role:"status"}),B=u.map((n,d)=>{let h=q("at-hatch"),[m,A]=[Math.floor(d/s),d%s],p=lt.map(([z,Z])=>`${Z} ${x(g[d][z])}`).join("; ");return r("button",{type:"button",class:"at-head","aria-label":`layer ${m}, head ${A}; ${p}`,onclick:()=>O(d)},b("svg",{viewBox:`0 0 ${l} ${l}`,"aria-hidden":"true"},i&&J(h,l/36),Ut(n),b("rect",{width:l,height:l,class:"at-edge"})),`${m}.${A}`)}),I=r("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${s}, minmax(2.4rem, 5.4rem))`}},B);I.addEventListener("keydown",n=>{let{layer:d,head:h}=v(),m={ArrowRight:[d,h+1],ArrowLeft:[d,h-1],ArrowDown:[d+1,h],ArrowUp:[d-1,h],Home:[0,0],End:[c-1,s-1]}[n.key];m&&(n.preventDefault(),w=I,e.set({layer:tt(m[0],c),head:tt(m[1],s)}),ot())});function J(n,d){let h=5*d;return[b("defs",{},b("pattern",{id:n,width:h,height:h,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},b("path",{d:`M0 0v${h}`,class:"at-line",style:{strokeWidth:.7*d}}))),b("path",{d:y,fill:`url(#${n})`})]}let f=Math.min(24,300/l),[k,$]=[72,20],j=b("svg",{class:"at-svg",role:"img",viewBox:`0 0 ${k+l*f+4} ${$+l*f+4}`,style:{maxWidth:`${k+l*f+4}px`}});j.addEventListener("click",n=>{let d=j.getBoundingClientRect(),h=(n.clientY-d.top)/d.height*($+l*f+4)-$;h>=0&&e.set({query:tt(Math.floor(h/f),l)})});let _=(...n)=>b("svg",{width:16,height:12,"aria-hidden":"true",viewBox:"0 0 16 12"},n,b("rect",{x:.5,y:.5,width:15,height:11,class:"at-edge"})),K=q("at-hatch"),Ht=r("div",{class:"at-key"},[1,.25,.05].map(n=>r("span",{},_(b("rect",{width:16,height:12,class:"at-cell","fill-opacity":Math.round(V*Math.sqrt(n))/V})),x(n))),i&&r("span",{},_(b("defs",{},b("pattern",{id:K,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},b("path",{d:"M0 0v5",class:"at-line"}))),b("rect",{width:16,height:12,fill:`url(#${K})`})),"masked: later than the query")),ct=r("p",{class:"at-title"}),Rt=q("at-hatch"),dt=Math.ceil(12/f),pt=r("p",{class:"at-title"}),F=r("div",{class:"at-strip",role:"toolbar","aria-label":"Query"}),ft=r("p",{class:"at-small"});F.addEventListener("keydown",n=>{let d=t.get("query"),h={ArrowRight:d+1,ArrowDown:d+1,ArrowLeft:d-1,ArrowUp:d-1,Home:0,End:l-1}[n.key];h!==void 0&&(n.preventDefault(),w=F,e.set({query:tt(h,l)}),ot())});let ut=r("dl",{class:"at-lines"}),ht=r("p",{class:"at-title"}),U=u.map((n,d)=>r("tr",{},r("th",{scope:"row"},`layer ${Math.floor(d/s)}, head ${d%s}`),lt.map(([h])=>r("td",{},x(g[d][h]))))),H=r("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},r("table",{class:"at-table"},r("thead",{},r("tr",{},r("th",{scope:"col"},"mean over queries"),lt.map(([,n])=>r("th",{scope:"col"},n)))),r("tbody",{},U)));function Bt(n,{layer:d,head:h,query:m}){j.setAttribute("aria-label",`Weights of layer ${d}, head ${h}, queries down, keys across; the words below give the row of query ${m}`),C(j,b("text",{x:k,y:12,class:"at-axis"},"keys →"),b("text",{x:k-6,y:12,class:"at-axis","text-anchor":"end"},"queries ↓"),b("g",{transform:`translate(${k} ${$}) scale(${f})`},i&&J(Rt,1.2/f),Ut(n),b("rect",{width:l,height:l,class:"at-edge"}),b("rect",{y:m,width:l,height:1,class:"at-row"})),a.map((A,p)=>(p===m||p%dt===0&&Math.abs(p-m)>=dt)&&b("text",{x:k-6,y:$+(p+.5)*f+4,"text-anchor":"end",class:p===m?"on":null},`${p} ${D(A).slice(0,7)}`)))}function It(n,d){let h=Math.max(...n);C(F,a.map((A,p)=>{let z=i&&p>d,Z=z?"–":n[p]?x(n[p]/S):"0";return r("button",{type:"button",class:`at-token${z?" off":""}`,tabindex:p===d?0:-1,"aria-pressed":String(p===d),"aria-label":`token ${p} ${D(A)}, ${z?"masked":`weight ${Z}`}`,onclick:()=>{w=F,e.set({query:p})}},D(A),r("span",{class:"at-track","aria-hidden":"true"},r("i",{style:{height:`${(100*n[p]/h).toFixed(1)}%`}})),r("small",{},Z))}));let m=i?d+1:l;ft.textContent=`The row sums to ${x(n.reduce((A,p)=>A+p,0)/S)} over ${m} key${m===1?"":"s"}; entropy ${x(Y(n))} of at most ${x(Math.log2(m))} bits. A full bar is the row's largest weight.`}let X=!1,bt=!0,et=0;e.defer(()=>clearTimeout(et));function mt(){X=!1;let n=v(),d=E();B.forEach((p,z)=>{p.setAttribute("aria-pressed",String(z===d)),p.tabIndex=z===d?0:-1});let h=Object.keys(N).filter(p=>M[p]===d);Object.keys(N).forEach((p,z)=>Q[z].setAttribute("aria-pressed",String(h.includes(p))));let m=h.map(p=>N[p].note).join(" ");L.textContent!==m&&(L.textContent=m),L.hidden=!m,ct.textContent=`Layer ${n.layer}, head ${n.head}`,Bt(u[d],n),pt.textContent=`Query ${n.query} “${D(a[n.query])}”: weight of each key`,It(u[d][n.query],n.query),ht.textContent="This head, mean over the queries from 1 on",C(ut,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([p,z])=>[r("dt",{},z),r("dd",{},x(g[d][p])),r("dd",{class:"at-meter","aria-hidden":"true"},r("i",{style:{width:`${(100*g[d][p]).toFixed(1)}%`}}))]),r("dt",{},"entropy of a row"),r("dd",{},x(g[d].entropy)),r("dd",{style:{textAlign:"left"}},"bits")),U.forEach((p,z)=>p.classList.toggle("on",z===d)),(U[d].offsetTop<H.scrollTop||U[d].offsetTop+U[d].offsetHeight>H.scrollTop+H.clientHeight)&&(H.scrollTop=U[d].offsetTop-H.clientHeight/2),w?.querySelector("[aria-pressed='true']")?.focus(),w=null,clearTimeout(et);let A=()=>e.say(Nt(a,u,i,[c,s],n));bt?A():et=setTimeout(A,250),bt=!1}let ot=()=>{X||queueMicrotask(()=>X&&mt()),X=!0};for(let n of _t)e.on(n,ot);return e.lay({stage:r("div",{class:"at at-main"},r("div",{class:"at-box"},ct,j,Ht),r("div",{class:"at-box"},pt,F)),readout:[L,ft],drawer:[r("div",{class:"at-chips"},r("p",{class:"at-title"},"Go to the head with the most weight on …, or the extreme of entropy"),R("Presets",Q)),r("div",{class:"at-bar"},W("Copy as PyTorch",()=>Dt(u,i,[c,s],v())),T),r("div",{class:"at-all"},r("div",{class:"at-box"},r("p",{class:"at-title"},"All heads, layer.head: layers down, heads across"),r("div",{class:"at-scroll"},I)),r("div",{class:"at-box"},H)),r("div",{class:"at-box"},ht,ut)]}),mt(),e.cleanup}var Ie={render:oe};export{Ie as default};
