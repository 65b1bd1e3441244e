var It="http://www.w3.org/2000/svg",Ft=Math.random().toString(36).slice(2,8),Pt=0,O=(t="tb")=>`${t}-${Ft}-${Pt+=1}`,a=(t,o,...e)=>gt(document.createElement(t),o,e),h=(t,o,...e)=>gt(document.createElementNS(It,t),o,e);function gt(t,o,e){for(let[r,i]of Object.entries(o??{}))i===!1||i===null||i===void 0||(typeof i=="function"&&r.startsWith("on")?t.addEventListener(r.slice(2),i):r==="style"&&typeof i=="object"?Wt(t,i):t.setAttribute(r,i===!0?"":i));return t.append(...vt(e)),t}function Wt(t,o){for(let[e,r]of Object.entries(o))e.startsWith("--")?t.style.setProperty(e,r):t.style[e]=r}var vt=t=>t.flat(1/0).filter(o=>o!=null&&o!==!1&&o!=="");function T(t,...o){return t.replaceChildren(...vt(o)),t}function H(t,o,e={}){let r=a("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:i=>r.getAttribute("aria-disabled")!=="true"&&o(i)},t);return r.disable=i=>i?r.setAttribute("aria-disabled","true"):r.removeAttribute("aria-disabled"),r.disable(!!e.disabled),r}var yt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function X(t,o){let e=a("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},o),r=()=>[...e.querySelectorAll("button, a[href]")],i=c=>r().forEach(l=>l.tabIndex=l===c?0:-1);return e.addEventListener("focusin",c=>i(c.target.closest("button, a[href]"))),e.addEventListener("keydown",c=>{let l=r(),s=l.indexOf(c.target);if(s<0)return;let p=-1;c.key in yt?p=(s+yt[c.key]+l.length)%l.length:c.key==="Home"?p=0:c.key==="End"&&(p=l.length-1),!(p<0)&&(c.preventDefault(),l[p].focus())}),i(r()[0]),e.reset=()=>i(r().find(c=>c.tabIndex===0)??r()[0]),e}async function xt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Vt(t)}}function Vt(t){let o=document.activeElement,e=a("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let r=!1;try{r=document.execCommand("copy")}catch{r=!1}return e.remove(),o?.focus?.(),r}function I(t,o,e={}){let r=a("span",{class:"tbviz-status",role:"status"}),i=0,c=s=>{clearTimeout(i),r.textContent=s,i=setTimeout(()=>r.textContent="",2500)},l=H(t,async()=>{let s=o();c(await xt(s)?"Copied":`Copying is not allowed here. Copy this: ${s}`)},e);return a("span",{class:"tbviz-copy"},l,r)}var Yt=t=>{let o=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...o)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Gt=t=>{let o=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(o,e=>e.charCodeAt(0))))},Z=(t,o)=>typeof o=="string"&&/^[\w-]+$/.test(o)?`#tbviz-${t}:${o}`:`#tbviz-${t}=${Yt(o)}`;function wt(t,o){let e;try{e=decodeURIComponent(o)}catch{return}for(let[r,i]of[[":",c=>c],["=",Gt]]){let c=`#tbviz-${t}${r}`;if(e.startsWith(c))try{return i(e.slice(c.length))}catch{return}}}var tt=t=>t.closest(".viz-mount");function et(t,o,e){let r=tt(t);return e||!r?e||o:`${o}-${[...document.querySelectorAll(".viz-mount")].indexOf(r)+1}`}function ot({key:t,get:o,put:e,el:r,label:i="Copy link"}){let c=!!tt(r),l=v=>`${location.href.split("#")[0]}${Z(t,v)}`,s=c?I(i,()=>l(o()),{title:"A link that opens this figure as it is now"}):a("span",{hidden:!0}),p=v=>{let $=wt(t,location.hash);$!==void 0&&(e($),v&&r.scrollIntoView({block:"nearest"}))},b=()=>p(!0);return s.href=v=>c?Z(t,v):"",s.cleanup=()=>removeEventListener("hashchange",b),s.start=()=>{c&&(addEventListener("hashchange",b),p(!0))},queueMicrotask(s.start),s}var kt=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,$t=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,zt=(...t)=>t.map(o=>`${o} .tbviz`).join(","),At=`
.tbviz{${kt}}
@media (prefers-color-scheme:dark){.tbviz{${$t}}}
${zt("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${kt}}
${zt("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${$t}}
.tbviz,.tbviz *{box-sizing:border-box}
.tbviz{container-type:inline-size;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:10px;
padding:.85rem;margin:.75rem 0;max-width:100%;font-size:.9375rem;line-height:1.45;display:flex;flex-direction:column;gap:.7rem;text-align:left}
.tbviz p{margin:0}
.tbviz [hidden]{display:none!important}
.tbviz code,.tbviz pre,.tbviz .tbviz-mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.9em;
color:inherit;background:none;border:0;padding:0;margin:0}
.tbviz-controls{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:flex-end}
.tbviz-stage{min-width:0;max-width:100%;overflow-x:auto}
.tbviz-stage svg{max-width:100%;display:block}
.tbviz-words{color:var(--tb-fg);font-size:.88em;overflow-wrap:anywhere}
.tbviz-help{color:var(--tb-muted);font-size:.86em}
.tbviz-button,.tbviz select,.tbviz input[type=text],.tbviz input[type=number]{font:inherit;font-size:.92em;line-height:1.3;min-height:1.9rem;min-width:1.9rem;
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
.tbviz-field>label{font-size:.8em;color:var(--tb-muted);margin:0}
.tbviz-slider{display:grid;grid-template-columns:minmax(4.5rem,auto) minmax(5rem,1fr) minmax(2.2rem,auto);gap:.5rem;align-items:center;min-height:1.9rem}
.tbviz-slider>label{margin:0;font-size:.92em}
.tbviz-slider>input{width:100%;min-width:0;height:1.6rem;margin:0;accent-color:var(--tb-accent)}
.tbviz-slider>output{font-variant-numeric:tabular-nums;text-align:right}
.tbviz-error{color:var(--tb-bad);font-size:.9em;overflow-wrap:anywhere}
.tbviz-error:empty,.tbviz-status:empty{display:none}
.tbviz [aria-invalid=true]{border-color:var(--tb-bad);border-width:2px}
.tbviz-copy{display:inline-flex;flex-wrap:wrap;gap:.4rem;align-items:center}
.tbviz-status{color:var(--tb-good);font-size:.86em;overflow-wrap:anywhere;user-select:all}
@media (prefers-reduced-motion:no-preference){.tbviz-button{transition:background .12s,border-color .12s}}
@media print{.tbviz-controls,.tbviz-help{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;function rt({model:t,el:o,title:e,describe:r}){let i=[],c=O(),l=a("div",{class:"tbviz-controls"}),s=a("div",{class:"tbviz-stage"}),p=a("p",{class:"tbviz-words","aria-live":"polite"}),b=a("p",{class:"tbviz-help",id:c}),v=a("style",{},At),$=a("div",{class:"tbviz",role:"group","aria-label":e,"aria-describedby":typeof r=="string"?c:null},v,l,s,p,b);typeof r=="string"?b.textContent=r:b.hidden=!0,$.addEventListener("keydown",m=>m.stopPropagation());let q=m=>{for(let[j,E]of Object.entries(m))t.set(j,E);t.save_changes()},M=m=>{p.textContent!==m&&(p.textContent=m),t.get("words")!==m&&q({words:m})},x=(m,j)=>{let E=()=>j(t.get(m));t.on(`change:${m}`,E),i.push(()=>t.off(`change:${m}`,E))},w=()=>{for(;i.length;)i.pop()();$.remove()};return o.append($),typeof r=="function"&&M(r()),{root:$,stage:s,controls:l,help:b,say:M,on:x,set:q,defer:m=>i.push(m),cleanup:w,css:m=>v.append(m)}}var Et={most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{presets:C,levels:F}=Et,A=255,St=t=>Array.from({length:t},(o,e)=>e),Jt=t=>t.reduce((o,e)=>o+e,0);function Mt(t,o,e){let r=Uint8Array.from(atob(t),l=>l.charCodeAt(0)),i=[],c=0;for(;c<r.length;)i.push(St(o).map(l=>{let s=e?l+1:o,p=[...r.subarray(c,c+s),...Array(o-s).fill(0)];return c+=s,p}));return i}function P(t){let o=0;for(let e of t)e&&(o-=e/A*Math.log2(e/A));return o}function W(t){let o=St(t.length).slice(1),e=r=>Jt(o.map(r));return{entropy:e(r=>P(t[r]))/o.length,previous:e(r=>t[r][r-1])/(A*o.length),first:e(r=>t[r][0])/(A*o.length),itself:e(r=>t[r][r])/(A*o.length)}}function Ot(t,o){let e=t.map(W).map(r=>o==="sharp"?-r.entropy:r[o==="broad"?"entropy":o]);return e.indexOf(Math.max(...e))}var Kt=t=>t?Math.max(1,Math.floor(F*Math.sqrt(t/A)+.5)):0;function Tt(t){let o={};return t.forEach((e,r)=>{var c;let i=e.map(Kt);for(let l=0,s=0;l<i.length;l=s){for(;s<i.length&&i[s]===i[l];)s+=1;i[l]&&(o[c=i[l]]??(o[c]=[])).push(`M${l} ${r}h${s-l}v1h-${s-l}z`)}}),Object.entries(o).map(([e,r])=>[Number(e),r.join("")])}function qt(t,{layers:o,heads:e,size:r}){if(!t||typeof t!="object")return!1;let i={layer:o,head:e,query:r};return Object.entries(t).every(([c,l])=>Object.hasOwn(i,c)&&Number.isInteger(l)&&l>=0&&l<i[c])}var Ct='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Lt=`
.at{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .at-title{font-size:.8em;font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .at-small{font-size:.84em;color:var(--tb-muted);margin:0}
.at-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.at-chips .tbviz-button{font-size:.86em;min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .at-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:.92em}
.at-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.at-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.at-scroll{position:relative;overflow:auto;max-width:100%;min-width:0;padding:4px}
.at-all{display:flex;flex-wrap:wrap;gap:.8rem;align-items:flex-start}
.at-all>.at-box{flex:0 1 auto}
.at-all>.at-box:last-child{flex:1 1 22rem}
.at-heads{display:grid;gap:5px}
.tbviz .at-head{display:flex;flex-direction:column;align-items:center;gap:1px;min-width:2.4rem;padding:2px;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:5px;cursor:pointer;font:.74em system-ui,sans-serif;touch-action:manipulation}
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
.at-svg text{font:11px ${Ct};fill:var(--tb-fg)}
.at-svg .at-axis{font:11.5px system-ui,sans-serif;fill:var(--tb-muted)}
.at-svg .on{font-weight:700}
.at-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.84em;align-items:center}
.at-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.at-strip{display:flex;flex-wrap:wrap;gap:4px 3px}
.tbviz .at-token{display:inline-flex;flex-direction:column;align-items:stretch;min-width:2.15rem;padding:1px 2px 0;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:4px;cursor:pointer;font:.9em/1.25 ${Ct};text-align:center;touch-action:manipulation;white-space:pre}
.at-track{height:1.7rem;background:var(--tb-fill);display:flex;align-items:flex-end;border-bottom:1px solid var(--tb-edge)}
.at-track i{display:block;width:100%;background:var(--tb-accent)}
.at-token small{font:.8em/1.3 system-ui,sans-serif;font-variant-numeric:tabular-nums}
.tbviz .at-token.off{border-style:dashed;color:var(--tb-muted)}
.at-token.off .at-track{background:none;border-bottom-style:dashed}
.tbviz .at-token[aria-pressed=true]{outline:2px solid var(--tb-fg);border-color:var(--tb-fg);font-weight:700}
.tbviz .at-lines{margin:0;display:grid;grid-template-columns:minmax(0,max-content) auto minmax(2.4rem,1fr);gap:.2rem .7rem;font-size:.92em;font-variant-numeric:tabular-nums;align-items:center}
.at-lines dt{font-weight:400;margin:0}
.at-lines dd{margin:0;text-align:right}
.at-meter{height:.7rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden}
.at-meter i{display:block;height:100%;background:var(--tb-accent)}
.at-tall{max-height:26rem}
@container (max-width:700px){.at-tall{max-height:13rem}}
.tbviz .at-table{border-collapse:collapse;margin:0;width:100%;font-size:.88em;display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .at-table tr{background:none;border:0}
.tbviz .at-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.12rem .45rem;text-align:right;background:none;color:inherit;font-weight:400}
.tbviz .at-table th[scope=row]{text-align:left;white-space:nowrap}
.tbviz .at-table thead th{color:var(--tb-muted)}
.tbviz .at-table thead th:first-child{text-align:left}
.tbviz .at-table tr.on>*{background:var(--tb-fill);font-weight:650}
`;var Xt=5,y=t=>t.toFixed(2),L=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function jt(t,o,e,[r,i],{layer:c,head:l,query:s}){let p=o[c*i+l],b=p[s],v=W(p),$=e?s+1:t.length,M=b.map((x,w)=>w).slice(0,$).sort((x,w)=>b[w]-b[x]||x-w).slice(0,Xt).filter(x=>b[x]).map(x=>`${y(b[x]/A)} to ${x} “${L(t[x])}”`);return`Attention of ${t.length} tokens, ${r} layer${r===1?"":"s"} of ${i} head${i===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${c}, head ${l}, query ${s} “${L(t[s])}”: weight ${M.join(", ")}; the row sums to ${y(b.reduce((x,w)=>x+w,0)/A)}, its entropy is ${y(P(b))} of at most ${y(Math.log2($))} bits. Means of this head over the queries from 1 on: entropy ${y(v.entropy)} bits, weight of the previous token ${y(v.previous)}, of the first ${y(v.first)}, of the query itself ${y(v.itself)}.`}function Zt(t){let o=[""];for(let e of t){let r=o.at(-1);r&&r.length+e.length+2>84?o.push(`${e},`):o[o.length-1]=r?`${r} ${e},`:`${e},`}return o.map(e=>`    ${e}`).join(`
`)}function Dt(t,o,[,e],{layer:r,head:i,query:c}){let l=t[r*e+i][c];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${l.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${r}, ${i}, ${c}
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
${Zt(l.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var te="Arrow keys move from head to head in the overview, and from query to query in the text; a click on a row of the large map chooses its query. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",Nt=["layer","head","query"],at=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],_t=t=>Tt(t).map(([o,e])=>h("path",{d:e,class:"at-cell","fill-opacity":o/F})),G=(t,o)=>Math.max(0,Math.min(o-1,t));function ee({model:t,el:o}){let e=rt({model:t,el:o,title:"Attention explorer",describe:te});e.css(Lt);let[r,i,c,l]=["tokens","causal","layers","heads"].map(n=>t.get(n)),s=r.length,p=Mt(t.get("packed"),s,i),b=p.map(W),v=()=>Object.fromEntries(Nt.map(n=>[n,t.get(n)])),$=()=>t.get("layer")*l+t.get("head"),q=n=>e.set({layer:Math.floor(n/l),head:n%l}),M=Object.fromEntries(Object.keys(C).map(n=>[n,Ot(p,n)])),x=`M1 0${"v1h1".repeat(s-1)}V0z`,w=null,m=ot({key:et(o,"attention",t.get("link")),el:o,get:v,put:n=>{typeof n=="string"?Object.hasOwn(C,n)&&q(M[n]):qt(n,{layers:c,heads:l,size:s})&&e.set(n)}});e.defer(m.cleanup);let j=Object.entries(C).map(([n,d])=>H(d.label,()=>{q(M[n]),m.href(n)&&history.replaceState(null,"",m.href(n))})),E=a("p",{class:"at-note",role:"status"}),nt=p.map((n,d)=>{let u=O("at-hatch"),[g,z]=[Math.floor(d/l),d%l],f=at.map(([k,Y])=>`${Y} ${y(b[d][k])}`).join("; ");return a("button",{type:"button",class:"at-head","aria-label":`layer ${g}, head ${z}; ${f}`,onclick:()=>q(d)},h("svg",{viewBox:`0 0 ${s} ${s}`,"aria-hidden":"true"},i&&it(u,s/36),_t(n),h("rect",{width:s,height:s,class:"at-edge"})),`${g}.${z}`)}),Q=a("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${l}, minmax(2.4rem, 5.4rem))`}},nt);Q.addEventListener("keydown",n=>{let{layer:d,head:u}=v(),g={ArrowRight:[d,u+1],ArrowLeft:[d,u-1],ArrowDown:[d+1,u],ArrowUp:[d-1,u],Home:[0,0],End:[c-1,l-1]}[n.key];g&&(n.preventDefault(),w=Q,e.set({layer:G(g[0],c),head:G(g[1],l)}),K())});function it(n,d){let u=5*d;return[h("defs",{},h("pattern",{id:n,width:u,height:u,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},h("path",{d:`M0 0v${u}`,class:"at-line",style:{strokeWidth:.7*d}}))),h("path",{d:x,fill:`url(#${n})`})]}let S=Math.min(24,300/s),[D,U]=[72,20],R=h("svg",{class:"at-svg",role:"img",viewBox:`0 0 ${D+s*S+4} ${U+s*S+4}`,style:{maxWidth:`${D+s*S+4}px`}});R.addEventListener("click",n=>{let d=R.getBoundingClientRect(),u=(n.clientY-d.top)/d.height*(U+s*S+4)-U;u>=0&&e.set({query:G(Math.floor(u/S),s)})});let st=(...n)=>h("svg",{width:16,height:12,"aria-hidden":"true",viewBox:"0 0 16 12"},n,h("rect",{x:.5,y:.5,width:15,height:11,class:"at-edge"})),lt=O("at-hatch"),Ut=a("div",{class:"at-key"},[1,.25,.05].map(n=>a("span",{},st(h("rect",{width:16,height:12,class:"at-cell","fill-opacity":Math.round(F*Math.sqrt(n))/F})),y(n))),i&&a("span",{},st(h("defs",{},h("pattern",{id:lt,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},h("path",{d:"M0 0v5",class:"at-line"}))),h("rect",{width:16,height:12,fill:`url(#${lt})`})),"masked: later than the query")),ct=a("p",{class:"at-title"}),Rt=O("at-hatch"),dt=Math.ceil(12/S),ft=a("p",{class:"at-title"}),B=a("div",{class:"at-strip",role:"toolbar","aria-label":"Query"}),pt=a("p",{class:"at-small"});B.addEventListener("keydown",n=>{let d=t.get("query"),u={ArrowRight:d+1,ArrowDown:d+1,ArrowLeft:d-1,ArrowUp:d-1,Home:0,End:s-1}[n.key];u!==void 0&&(n.preventDefault(),w=B,e.set({query:G(u,s)}),K())});let ut=a("dl",{class:"at-lines"}),ht=a("p",{class:"at-title"}),N=p.map((n,d)=>a("tr",{},a("th",{scope:"row"},`layer ${Math.floor(d/l)}, head ${d%l}`),at.map(([u])=>a("td",{},y(b[d][u]))))),_=a("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},a("table",{class:"at-table"},a("thead",{},a("tr",{},a("th",{scope:"col"},"mean over queries"),at.map(([,n])=>a("th",{scope:"col"},n)))),a("tbody",{},N)));function Bt(n,{layer:d,head:u,query:g}){R.setAttribute("aria-label",`Weights of layer ${d}, head ${u}, queries down, keys across; the words below give the row of query ${g}`),T(R,h("text",{x:D,y:12,class:"at-axis"},"keys →"),h("text",{x:D-6,y:12,class:"at-axis","text-anchor":"end"},"queries ↓"),h("g",{transform:`translate(${D} ${U}) scale(${S})`},i&&it(Rt,1.2/S),_t(n),h("rect",{width:s,height:s,class:"at-edge"}),h("rect",{y:g,width:s,height:1,class:"at-row"})),r.map((z,f)=>(f===g||f%dt===0&&Math.abs(f-g)>=dt)&&h("text",{x:D-6,y:U+(f+.5)*S+4,"text-anchor":"end",class:f===g?"on":null},`${f} ${L(z).slice(0,7)}`)))}function Ht(n,d){let u=Math.max(...n);T(B,r.map((z,f)=>{let k=i&&f>d,Y=k?"–":n[f]?y(n[f]/A):"0";return a("button",{type:"button",class:`at-token${k?" off":""}`,tabindex:f===d?0:-1,"aria-pressed":String(f===d),"aria-label":`token ${f} ${L(z)}, ${k?"masked":`weight ${Y}`}`,onclick:()=>{w=B,e.set({query:f})}},L(z),a("span",{class:"at-track","aria-hidden":"true"},a("i",{style:{height:`${(100*n[f]/u).toFixed(1)}%`}})),a("small",{},Y))}));let g=i?d+1:s;pt.textContent=`The row sums to ${y(n.reduce((z,f)=>z+f,0)/A)} over ${g} key${g===1?"":"s"}; entropy ${y(P(n))} of at most ${y(Math.log2(g))} bits. A full bar is the row's largest weight.`}let V=!1,bt=!0,J=0;e.defer(()=>clearTimeout(J));function mt(){V=!1;let n=v(),d=$();nt.forEach((f,k)=>{f.setAttribute("aria-pressed",String(k===d)),f.tabIndex=k===d?0:-1});let u=Object.keys(C).filter(f=>M[f]===d);Object.keys(C).forEach((f,k)=>j[k].setAttribute("aria-pressed",String(u.includes(f))));let g=u.map(f=>C[f].note).join(" ");E.textContent!==g&&(E.textContent=g),E.hidden=!g,ct.textContent=`Layer ${n.layer}, head ${n.head}`,Bt(p[d],n),ft.textContent=`Query ${n.query} “${L(r[n.query])}”: weight of each key`,Ht(p[d][n.query],n.query),ht.textContent="This head, mean over the queries from 1 on",T(ut,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([f,k])=>[a("dt",{},k),a("dd",{},y(b[d][f])),a("dd",{class:"at-meter","aria-hidden":"true"},a("i",{style:{width:`${(100*b[d][f]).toFixed(1)}%`}}))]),a("dt",{},"entropy of a row"),a("dd",{},y(b[d].entropy)),a("dd",{style:{textAlign:"left"}},"bits")),N.forEach((f,k)=>f.classList.toggle("on",k===d)),(N[d].offsetTop<_.scrollTop||N[d].offsetTop+N[d].offsetHeight>_.scrollTop+_.clientHeight)&&(_.scrollTop=N[d].offsetTop-_.clientHeight/2),w?.querySelector("[aria-pressed='true']")?.focus(),w=null,clearTimeout(J);let z=()=>e.say(jt(r,p,i,[c,l],n));bt?z():J=setTimeout(z,250),bt=!1}let K=()=>{V||queueMicrotask(()=>V&&mt()),V=!0};for(let n of Nt)e.on(n,K);return T(e.controls,a("div",{class:"at-chips"},a("p",{class:"at-title"},"Go to the head with the most weight on …, or the extreme of entropy"),X("Presets",j)),a("div",{class:"at-bar"},I("Copy as PyTorch",()=>Dt(p,i,[c,l],v())),m)),T(e.stage,a("div",{class:"at"},E,a("div",{class:"at-all"},a("div",{class:"at-box"},a("p",{class:"at-title"},"All heads, layer.head: layers down, heads across"),a("div",{class:"at-scroll"},Q)),a("div",{class:"at-box"},_)),a("div",{class:"at-main"},a("div",{class:"at-box"},ct,R,Ut),a("div",{class:"at-box"},ft,B,pt,ht,ut)))),mt(),e.cleanup}var Be={render:ee};export{Be as default};
