var Bt="http://www.w3.org/2000/svg",Wt=Math.random().toString(36).slice(2,8),Pt=0,Q=(t="tb")=>`${t}-${Wt}-${Pt+=1}`,s=(t,o,...e)=>xt(document.createElement(t),o,e),E=(t,o,...e)=>xt(document.createElementNS(Bt,t),o,e);function xt(t,o,e){for(let[r,n]of Object.entries(o??{}))n===!1||n===null||n===void 0||(typeof n=="function"&&r.startsWith("on")?t.addEventListener(r.slice(2),n):r==="style"&&typeof n=="object"?Ft(t,n):t.setAttribute(r,n===!0?"":n));return t.append(...wt(e)),t}function Ft(t,o){for(let[e,r]of Object.entries(o))e.startsWith("--")?t.style.setProperty(e,r):t.style[e]=r}var wt=t=>t.flat(1/0).filter(o=>o!=null&&o!==!1&&o!=="");function R(t,...o){return t.replaceChildren(...wt(o)),t}function G(t,o,e={}){let r=s("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:n=>r.getAttribute("aria-disabled")!=="true"&&o(n)},t);return r.disable=n=>n?r.setAttribute("aria-disabled","true"):r.removeAttribute("aria-disabled"),r.disable(!!e.disabled),r}var yt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function K(t,o){let e=s("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},o),r=()=>[...e.querySelectorAll("button, a[href]")].filter(c=>!c.hidden),n=c=>r().forEach(l=>l.tabIndex=l===c?0:-1);return e.addEventListener("focusin",c=>n(c.target.closest("button, a[href]"))),e.addEventListener("keydown",c=>{let l=r(),p=l.indexOf(c.target);if(p<0)return;let d=-1;c.key in yt?d=(p+yt[c.key]+l.length)%l.length:c.key==="Home"?d=0:c.key==="End"&&(d=l.length-1),!(d<0)&&(c.preventDefault(),l[d].focus())}),n(r()[0]),e.reset=()=>n(r().find(c=>c.tabIndex===0)??r()[0]),e}async function zt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Vt(t)}}function Vt(t){let o=document.activeElement,e=s("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let r=!1;try{r=document.execCommand("copy")}catch{r=!1}return e.remove(),o?.focus?.(),r}function X(t,o,e={}){let r=s("span",{class:"tbviz-status",role:"status"}),n=0,c=p=>{clearTimeout(n),r.textContent=p,n=setTimeout(()=>r.textContent="",2500)},l=G(t,async()=>{let p=o();c(await zt(p)?"Copied":`Copying is not allowed here. Copy this: ${p}`)},e);return s("span",{class:"tbviz-copy"},l,r)}var st=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function lt({ms:t,step:o,done:e}){if(st()||t<=0)return o(1),e?.(),{cancel(){}};let r=0,n,c=l=>{n??(n=l);let p=Math.min(1,(l-n)/t);o(p),p<1?r=requestAnimationFrame(c):e?.()};return r=requestAnimationFrame(c),{cancel:()=>cancelAnimationFrame(r)}}var Yt=t=>{let o=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...o)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Qt=t=>{let o=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(o,e=>e.charCodeAt(0))))},Z=(t,o)=>typeof o=="string"&&/^[\w-]+$/.test(o)?`#tbviz-${t}:${o}`:`#tbviz-${t}=${Yt(o)}`;function kt(t,o){let e;try{e=decodeURIComponent(o)}catch{return}for(let[r,n]of[[":",c=>c],["=",Qt]]){let c=`#tbviz-${t}${r}`;if(e.startsWith(c))try{return n(e.slice(c.length))}catch{return}}}var ct=t=>t.closest(".viz-mount");function dt(t,o,e){let r=ct(t);return e||!r?e||o:`${o}-${[...document.querySelectorAll(".viz-mount")].indexOf(r)+1}`}var $t=new WeakMap,At=(t,o)=>$t.set(t,o);function pt({key:t,get:o,put:e,el:r,label:n="Copy link"}){let c=!!ct(r),l=$t.get(r),p=x=>`${location.href.split("#")[0]}${Z(t,x)}`,d=c?X(n,()=>p(o()),{title:"A link that opens this figure as it is now"}):s("span",{hidden:!0}),[f,h,y]=[void 0,"",0],N=()=>{let x=kt(t,location.hash);x===void 0&&!h||(e(x===void 0?f:x),clearTimeout(y),h=x===void 0?"":Z(t,o()),x!==void 0&&r.scrollIntoView({block:r.clientHeight>innerHeight?"start":"nearest"}))},k=()=>{let x=o(),D=Z(t,x);if(!(D===h||!h&&D===Z(t,f))){if(typeof x=="string")history.pushState(null,"",D);else if(h)history.replaceState(null,"",D);else return;h=D}},w=()=>{clearTimeout(y),y=setTimeout(k,250)};return d.cleanup=()=>{clearTimeout(y),removeEventListener("hashchange",N),l?.off("change",w)},d.start=()=>{c&&(f=o(),addEventListener("hashchange",N),N(),l?.on("change",w))},queueMicrotask(d.start),d}function at(t,o,e){let r=!1,n=d=>e?d.target.closest(e):t,c=d=>getComputedStyle(d).touchAction==="none",l=(d,f)=>{let{left:h,top:y}=t.getBoundingClientRect();o(d.clientX-h,d.clientY-y,f)};t.addEventListener("pointerdown",d=>{let f=n(d);r=!!f&&d.pointerType==="touch"&&!c(f),!(!f||d.button||r)&&(t.setPointerCapture(d.pointerId),l(d,!0))}),t.addEventListener("pointermove",d=>t.hasPointerCapture(d.pointerId)&&l(d,!1)),t.addEventListener("click",d=>r&&l(d,!0));let p=d=>n(d)&&c(n(d))&&d.preventDefault();t.addEventListener("touchstart",p,{passive:!1})}var Mt=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Et=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Ot=(...t)=>t.map(o=>`${o} .tbviz`).join(","),St=`
.tbviz{${Mt}}
@media (prefers-color-scheme:dark){.tbviz{${Et}}}
${Ot("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${Mt}}
${Ot("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Et}}
.tbviz,.tbviz *{box-sizing:border-box}
.tbviz{container-type:inline-size;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:10px;
position:relative;padding:.65rem .85rem;margin:.4rem 0;max-width:100%;min-height:var(--tb-room,0);font-size:.9375rem;line-height:1.45;display:flex;flex-direction:column;gap:.6rem;text-align:left}
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
.tbviz-player{display:flex;gap:.4rem .6rem;align-items:center;flex:1 1 15rem;min-width:0}
.tbviz-player>.tbviz-toolbar{flex:none;flex-wrap:nowrap}
.tbviz-player>.tbviz-slider{flex:1 1 auto;min-width:0;grid-template-columns:minmax(3rem,1fr) auto}
.tbviz-player label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.tbviz-player output{white-space:nowrap;min-width:3.6rem}
.tbviz-error{color:var(--tb-bad);font-size:max(12px,.9em);overflow-wrap:anywhere}
.tbviz-error:empty,.tbviz-status:empty{display:none}
.tbviz [aria-invalid=true]{border-color:var(--tb-bad);border-width:2px}
.tbviz-copy{display:inline-flex;flex-wrap:wrap;gap:.4rem;align-items:center}
.tbviz-status{color:var(--tb-good);font-size:max(12px,.86em);overflow-wrap:anywhere;user-select:all}
@media (prefers-reduced-motion:no-preference){.tbviz-button{transition:background .12s,border-color .12s}
.tbviz-moving :is(rect,circle,path,g,line){transition:x .38s,y .38s,width .38s,height .38s,cx .38s,cy .38s,d .38s,transform .38s,opacity .38s,fill .2s,stroke .2s}
@starting-style{.tbviz-moving :is(rect,circle,path,g,line){opacity:0}}}
.tbviz :is(sup,sub,small){font-size:max(12px,.8em)}
@container (max-width:560px){.tbviz-bar>.tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;max-width:100%;padding:4px;margin:-4px}.tbviz-bar .tbviz-button{flex:none}}
@media (max-width:600px){.tbviz{margin:.15rem 0}}
@media (max-width:480px){.tbviz{padding:.35rem .6rem;gap:.3rem;line-height:1.38}.tbviz-bar{gap:.35rem .5rem}.tbviz-finding{font-size:1rem;line-height:1.2}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
.tbviz-drawn{touch-action:pan-y pinch-zoom}
@media (pointer:coarse){.tbviz-cells :is([role=gridcell],.tbviz-small){pointer-events:none;cursor:inherit}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var Tt=3;function ut({model:t,el:o,contract:e,kind:r,reset:n={},changing:c,changed:l}){let p=[];At(o,t);let d=Q(),f=s("div",{class:"tbviz-stage"}),h=s("div",{class:"tbviz-bar"}),y=s("div",{class:"tbviz-readout"}),N=s("div",{class:"tbviz-rest"}),k=s("p",{class:"tbviz-words","aria-live":"polite"}),w=s("p",{class:"tbviz-help",id:d},e.help),x=s("details",{class:"tbviz-drawer"},s("summary",{},"Details"),N,w),D=s("style",{},St),B=s("div",{class:"tbviz",role:"group","aria-label":e.title,"aria-describedby":e.help?d:null},D,s("div",{class:"tbviz-head"},s("p",{class:"tbviz-finding"},e.finding),s("p",{class:"tbviz-invitation"},e.invitation)),f,h,y,k,x),V=({presets:a=[],...i})=>{let u=a.slice(Tt),m=[[f,[i.stage]],[h,[a.length>0&&K("Presets",a.slice(0,Tt)),i.bar]],[y,[i.readout]],[N,[u.length>0&&s("div",{},s("p",{class:"tbviz-title"},"Start from"),K("More presets",u)),i.drawer]]];for(let[j,_]of m)R(j,_.flat()),j.hidden=!j.childNodes.length};B.addEventListener("keydown",a=>a.stopPropagation());let g=a=>{for(let[i,u]of Object.entries(a))t.set(i,u);t.save_changes()},z=a=>{k.textContent!==a&&(k.textContent=a),t.get("words")!==a&&g({words:a})},A=0,v=!1,T=(a,{ms:i=250,quiet:u=!1}={})=>{clearTimeout(A),v?u||(A=setTimeout(()=>z(a()),i)):z(a()),v=!0};p.push(()=>clearTimeout(A));let M=(a,i)=>{a.textContent!==i&&(a.textContent=i),a.hidden=!i},L=(a,i)=>{let u=()=>i(t.get(a));t.on(`change:${a}`,u),p.push(()=>t.off(`change:${a}`,u))},$=()=>Object.fromEntries(e.names.map(a=>[a,t.get(a)])),q=a=>{c?.(),g(a),l?.(a)},C=a=>q({...e.start,...n,...a}),U=a=>C(e.settingOf(a)),I={},W=(a=U,i=e.presets)=>{for(let[u,{label:m}]of Object.entries(i))I[u]=G(m,()=>a(u));return Object.values(I)},nt=(a=[])=>{let i=[a].flat();for(let[u,m]of Object.entries(I))m.setAttribute("aria-pressed",String(i.includes(u)));return i.map(u=>e.presets[u].note).join(" ")},et=({choose:a=U,presets:i=e.presets,accepts:u=e.isSetting,start:m=C,get:j=()=>e.presetOf($())??$()}={})=>{let _=b=>typeof b!="string"?u(b)&&m(b):Object.hasOwn(i,b)&&a(b),Y=pt({key:dt(o,r,t.get("link")),el:o,get:j,put:_});return p.push(Y.cleanup),Y},ot=(a,i=e.names)=>{let u=!1,m=()=>{u||queueMicrotask(()=>{u=!1,a()}),u=!0};for(let j of i)L(j,m);return m},it=(a,i)=>{let u=a.clientWidth,m=new ResizeObserver(()=>{a.clientWidth&&a.clientWidth!==u&&(u=a.clientWidth,i())});m.observe(a),p.push(()=>m.disconnect())},rt=()=>{for(;p.length;)p.pop()();B.remove()};return o.append(B),{root:B,stage:f,words:k,help:w,lay:V,say:z,soon:T,tell:M,on:L,set:g,setting:$,put:q,start:C,chips:W,mark:nt,link:et,follow:ot,watch:it,defer:a=>p.push(a),cleanup:rt,css:a=>D.append(a)}}var J={title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token, then another head.",help:"Arrow keys move from head to head in the small maps, layers down and heads across, and from query to query in the text; a row of the large map is a query too. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{levels:ft}=J,O=255,ht=t=>Array.from({length:t},(o,e)=>e),Kt=t=>t.reduce((o,e)=>o+e,0);function Ct(t,o,e){let r=Uint8Array.from(atob(t),l=>l.charCodeAt(0)),n=[],c=0;for(;c<r.length;)n.push(ht(o).map(l=>{let p=e?l+1:o,d=[...r.subarray(c,c+p),...Array(o-p).fill(0)];return c+=p,d}));return n}function F(t){let o=0;for(let e of t)e&&(o-=e/O*Math.log2(e/O));return o}function tt(t){let o=ht(t.length).slice(1),e=r=>Kt(o.map(r));return{entropy:e(r=>F(t[r]))/o.length,previous:e(r=>t[r][r-1])/(O*o.length),first:e(r=>t[r][0])/(O*o.length),itself:e(r=>t[r][r])/(O*o.length)}}function Xt(t,o){let e=t.map(tt).map(r=>o==="sharp"?-r.entropy:r[o==="broad"?"entropy":o]);return e.indexOf(Math.max(...e))}var Zt={previous:(t,o)=>t[o-1]/O,first:t=>t[0]/O,itself:(t,o)=>t[o]/O,sharp:t=>-F(t),broad:t=>F(t)};function Lt(t,o){let e=Xt(t,o),r=t[e],n=ht(r.length).slice(Math.min(2,r.length-1)),c=n.map(l=>Zt[o](r[l],l));return{at:e,query:n[c.indexOf(Math.max(...c))]}}var te=t=>t?Math.max(1,Math.floor(ft*Math.sqrt(t/O)+.5)):0;function qt(t){let o={};return t.forEach((e,r)=>{var c;let n=e.map(te);for(let l=0,p=0;l<n.length;l=p){for(;p<n.length&&n[p]===n[l];)p+=1;n[l]&&(o[c=n[l]]??(o[c]=[])).push(`M${l} ${r}h${p-l}v1h-${p-l}z`)}}),Object.entries(o).map(([e,r])=>[Number(e),r.join("")])}function jt(t,{layers:o,heads:e,size:r}){if(!t||typeof t!="object")return!1;let n={layer:o,head:e,query:r};return Object.entries(t).every(([c,l])=>Object.hasOwn(n,c)&&Number.isInteger(l)&&l>=0&&l<n[c])}var ee=5,S=t=>t.toFixed(2),P=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Nt(t,o,e,[r,n],{layer:c,head:l,query:p}){let d=o[c*n+l],f=d[p],h=tt(d),y=e?p+1:t.length,k=f.map((w,x)=>x).slice(0,y).sort((w,x)=>f[x]-f[w]||w-x).slice(0,ee).filter(w=>f[w]).map(w=>`${S(f[w]/O)} to ${w} “${P(t[w])}”`);return`Attention of ${t.length} tokens, ${r} layer${r===1?"":"s"} of ${n} head${n===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${c}, head ${l}, query ${p} “${P(t[p])}”: weight ${k.join(", ")}; the row sums to ${S(f.reduce((w,x)=>w+x,0)/O)}, its entropy is ${S(F(f))} of at most ${S(Math.log2(y))} bits. Means of this head over the queries from 1 on: entropy ${S(h.entropy)} bits, weight of the previous token ${S(h.previous)}, of the first ${S(h.first)}, of the query itself ${S(h.itself)}.`}function oe(t){let o=[""];for(let e of t){let r=o.at(-1);r&&r.length+e.length+2>84?o.push(`${e},`):o[o.length-1]=r?`${r} ${e},`:`${e},`}return o.map(e=>`    ${e}`).join(`
`)}function Dt(t,o,[,e],{layer:r,head:n,query:c}){let l=t[r*e+n][c];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${l.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${r}, ${n}, ${c}
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
${oe(l.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var re=7.9,ae=9,mt=t=>qt(t).map(([o,e])=>E("path",{d:e,class:"at-cell","fill-opacity":o/ft}));function bt(t,o){let e=Q("at-hatch"),r=5*o;return[E("defs",{},E("pattern",{id:e,width:r,height:r,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},E("path",{d:`M0 0v${r}`,class:"at-line",style:{strokeWidth:.7*o}}))),E("path",{d:`M1 0${"v1h1".repeat(t-1)}V0z`,fill:`url(#${e})`})]}function Rt({tokens:t,causal:o,pick:e}){let r=t.length,n=E("svg",{class:"at-arcs","aria-hidden":"true"}),c=t.map(g=>s("span",{class:"at-token","aria-hidden":"true"},P(g))),l=s("div",{class:"at-text"},c),p=s("div",{class:"at-inner"},n,l),d=s("div",{class:"at-strip",role:"slider",tabindex:0,"aria-label":"Query","aria-valuemin":0,"aria-valuemax":r-1},p),f=t.map(()=>E("path",{class:"at-arc"})),h=E("path",{class:"at-drop"});R(n,f,h);let y={cancel(){}},N=null,[k,w]=[[],0],x=t.map(g=>Math.max(1,P(g).length)*re+1);function D(){let g=d.clientWidth,z=x.reduce((T,M)=>T+M,0),A=Math.max(0,Math.min(12,(g-z)/r)),v=0;return k=x.map((T,M)=>(c[M].style.width=`${T+A}px`,v+=T+A,v-(T+A)/2)),p.style.width=`${v}px`,v}function B({at:g,weights:z}){let A=n.clientHeight||150,v=A-2,T=Math.max(...k.map(M=>Math.abs(M-g)),1);f.forEach((M,L)=>{let[$,q]=[k[L],z[L]/O],C=Math.abs($-g),U=C<1?22:26+(A-42)*Math.sqrt(C/T);M.setAttribute("d",C<1?`M${g-7} ${v}C${g-16} ${v-1.4*U} ${g+16} ${v-1.4*U} ${g+7} ${v}`:`M${g} ${v}C${g} ${v-U} ${$} ${v-U} ${$} ${v}`),M.style.strokeWidth=`${Math.max(.4,ae*q).toFixed(2)}px`,M.style.opacity=q?Math.min(1,.25+1.2*q).toFixed(3):"0"}),h.setAttribute("d",`M${g-5} ${v}h10`),N={at:g,weights:z}}function V(g,z,A){y.cancel();let v=D();n.setAttribute("width",v),d.setAttribute("aria-valuenow",z),d.setAttribute("aria-valuetext",A),c.forEach((L,$)=>{L.classList.toggle("on",$===z),L.classList.toggle("off",o&&$>z)});let[T,M]=[N,{at:k[z],weights:g}];if(d.scrollWidth>d.clientWidth&&(d.scrollLeft=M.at-d.clientWidth/2),!T||v!==w)B(M);else{let L=($,q,C)=>$+(q-$)*C*C*(3-2*C);y=lt({ms:360,step:$=>B({at:L(T.at,M.at,$),weights:g.map((q,C)=>L(T.weights[C],q,$))})})}w=v}return at(p,g=>e(k.reduce((z,A,v)=>Math.abs(A-g)<Math.abs(k[z]-g)?v:z,0))),{node:d,draw:V,stop:()=>y.cancel()}}function _t({tokens:t,causal:o,pick:e}){let r=t.length,n=E("svg",{class:"at-svg",role:"img",viewBox:`-0.1 -0.1 ${r+.2} ${r+.2}`});at(n,(f,h)=>e(Math.max(0,Math.min(r-1,Math.floor(h/n.clientHeight*r)))));let c=E("rect",{width:r,height:1,class:"at-row"}),l=E("g");R(n,o&&bt(r,r/110),l,E("rect",{width:r,height:r,class:"at-edge"}),c);let p="";function d(f,h,y){n.setAttribute("aria-label",`Weights of ${h}, queries down, keys across; the words below give the row of query ${y}`),c.style.transform=`translateY(${y}px)`,h!==p&&R(l,mt(f)),p=h}return{node:n,draw:d}}var Ht='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Ut=`
.at{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .at-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .at-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .at-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.at-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.at-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.at-scroll{position:relative;overflow:auto;max-width:100%;min-width:0;padding:4px}
.at-all{display:flex;flex-wrap:wrap;gap:.8rem;align-items:flex-start}
.at-all>.at-box{flex:0 1 auto}
.at-all>.at-box:last-child{flex:1 1 22rem}
.at{--at-thumb:64px;--at-arcs:220px;gap:.9rem}
@container (max-width:520px){.at{--at-thumb:46px;--at-arcs:170px}}
.at-strip{overflow-x:auto;max-width:100%;padding:2px 0;cursor:pointer;user-select:none}
.at-inner{margin:0 auto;padding-bottom:.3rem}
.tbviz .at-arcs{display:block;max-width:none;height:var(--at-arcs)}
.at-arc{fill:none;stroke:var(--tb-accent);stroke-linecap:round}
.at-drop{stroke:var(--tb-warm);stroke-width:4;stroke-linecap:round}
.at-text{display:flex;white-space:pre;font:13px/1.6 ${Ht}}
.at-token{flex:none;text-align:center;border-radius:3px;overflow:hidden}
.at-token.on{background:var(--tb-warm-soft);color:var(--tb-warm);font-weight:700}
.at-token.off{color:var(--tb-muted)}
.at-pair{display:flex;gap:1.1rem;align-items:flex-start;justify-content:center}
.at-pair>.at-scroll{flex:none;max-width:min(100% - 120px,calc(6 * var(--at-thumb) + 28px));max-height:calc(3 * var(--at-thumb) + 18px)}
.at-heads{display:grid;gap:4px;width:fit-content}
.tbviz .at-head{width:var(--at-thumb);height:var(--at-thumb);padding:3px;margin:0;background:var(--tb-bg);color:var(--tb-fg);border:1px solid var(--tb-line);border-radius:5px;cursor:pointer;touch-action:manipulation}
.tbviz .at-head svg{width:100%;height:100%;display:block}
.tbviz .at-head[aria-pressed=true]{border-color:var(--tb-fg);outline:2px solid var(--tb-fg)}
.tbviz .at-head:focus-visible{outline:3px solid var(--tb-accent);outline-offset:1px}
.at-cell{fill:var(--tb-accent);shape-rendering:crispEdges}
.at-edge{fill:none;stroke:var(--tb-edge);vector-effect:non-scaling-stroke}
.at-line{stroke:var(--tb-muted);stroke-width:.7}
.at-row{fill:none;stroke:var(--tb-fg);stroke-width:2;vector-effect:non-scaling-stroke}
.tbviz .at-svg{display:block;flex:0 1 calc(3 * var(--at-thumb) + 10px);min-width:0;width:0;aspect-ratio:1;cursor:pointer;overflow:visible}
@media (prefers-reduced-motion:no-preference){.at-row{transition:transform .36s}}
.tbviz .at-told{min-height:1.45em}
@container (max-width:520px){.tbviz .at-told{min-height:2.9em}}
.tbviz .at-weights{display:flex;flex-wrap:wrap;gap:.2rem;list-style:none;margin:0;padding:0;font:max(12px,.9em)/1.25 ${Ht}}
.tbviz .at-weights li{margin:0;display:grid;justify-items:center;min-width:2.1rem;border:1px solid var(--tb-line);border-radius:4px;padding:1px 3px;white-space:pre}
.tbviz .at-weights .off{border-style:dashed;color:var(--tb-muted)}
.at-weights small{font:max(12px,.8em)/1.3 system-ui,sans-serif;font-variant-numeric:tabular-nums}
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
`;var It=["layer","head","query"],gt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],vt=(t,o)=>Math.max(0,Math.min(o-1,t));function ne({model:t,el:o}){let e=ut({model:t,el:o,contract:J,kind:"attention"});e.css(Ut);let[r,n,c,l]=["tokens","causal","layers","heads"].map(a=>t.get(a)),p=r.length,d=Ct(t.get("packed"),p,n),f=d.map(tt),h=()=>Object.fromEntries(It.map(a=>[a,t.get(a)])),y=()=>t.get("layer")*l+t.get("head"),N=a=>e.set({layer:Math.floor(a/l),head:a%l}),k=Object.fromEntries(Object.keys(J.presets).map(a=>[a,Lt(d,a)])),w=!1,x=a=>{let{at:i,query:u}=k[a];e.set({layer:Math.floor(i/l),head:i%l,query:u})},D=e.link({choose:x,start:e.set,accepts:a=>jt(a,{layers:c,heads:l,size:p}),get:h}),B=e.chips(x),V=s("p",{class:"at-note",role:"status"}),g=d.map((a,i)=>{let[u,m]=[Math.floor(i/l),i%l],j=gt.map(([_,Y])=>`${Y} ${S(f[i][_])}`).join("; ");return s("button",{type:"button",class:"at-head","aria-label":`layer ${u}, head ${m}; ${j}`,onclick:()=>N(i)},E("svg",{viewBox:`0 0 ${p} ${p}`,"aria-hidden":"true"},n&&bt(p,p/36),mt(a),E("rect",{width:p,height:p,class:"at-edge"})))}),z=s("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${l}, var(--at-thumb))`}},g);z.addEventListener("keydown",a=>{let{layer:i,head:u}=h(),m={ArrowRight:[i,u+1],ArrowLeft:[i,u-1],ArrowDown:[i+1,u],ArrowUp:[i-1,u],Home:[0,0],End:[c-1,l-1]}[a.key];m&&(a.preventDefault(),w=!0,e.set({layer:vt(m[0],c),head:vt(m[1],l)}),ot())});let A=a=>e.set({query:vt(a,p)}),v=Rt({tokens:r,causal:n,pick:A});e.defer(v.stop),v.node.addEventListener("keydown",a=>{let i=t.get("query"),u={ArrowRight:i+1,ArrowUp:i+1,ArrowLeft:i-1,ArrowDown:i-1,PageUp:i+8,PageDown:i-8,Home:0,End:p-1}[a.key];u!==void 0&&(a.preventDefault(),A(u))});let T=_t({tokens:r,causal:n,pick:A}),M=s("p",{class:"at-told"}),L=s("p",{class:"at-title"}),$=s("ol",{class:"at-weights"}),q=s("p",{class:"at-small"}),C=s("dl",{class:"at-lines"}),U=s("p",{class:"at-title"}),I=d.map((a,i)=>s("tr",{},s("th",{scope:"row"},`layer ${Math.floor(i/l)}, head ${i%l}`),gt.map(([u])=>s("td",{},S(f[i][u]))))),W=s("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},s("table",{class:"at-table"},s("thead",{},s("tr",{},s("th",{scope:"col"},"mean over queries"),gt.map(([,a])=>s("th",{scope:"col"},a)))),s("tbody",{},I)));function nt(a,i){let u=n?i+1:p,m=b=>n&&b>i?"–":a[b]?S(a[b]/O):"0",j=a.map((b,H)=>H).filter(b=>a[b]).sort((b,H)=>a[H]-a[b]||b-H),_=b=>`“${P(r[b])}”`,Y=j.slice(0,3).map(b=>[_(b)," ",s("b",{},m(b))]);v.draw(a,i,`${i} ${_(i)}: ${j.slice(0,3).map(b=>`${m(b)} to ${b} ${_(b)}`).join(", ")}`),R(M,`Layer ${t.get("layer")}, head ${t.get("head")}: ${_(i)} looks at `,Y.map((b,H)=>[H?", ":"",b]),j.length>3?" …":"."),L.textContent=`Query ${i} ${_(i)}: weight of each key`,R($,r.map((b,H)=>s("li",{class:n&&H>i?"off":null},s("span",{},P(b)),s("small",{},m(H))))),q.textContent=`The row sums to ${S(a.reduce((b,H)=>b+H,0)/O)} over ${u} key${u===1?"":"s"}; entropy ${S(F(a))} of at most ${S(Math.log2(u))} bits.${n?" – is masked: later than the query.":""}`}function et(){let a=h(),i=y();g.forEach((u,m)=>{u.setAttribute("aria-pressed",String(m===i)),u.tabIndex=m===i?0:-1}),e.tell(V,e.mark(Object.keys(J.presets).filter(u=>k[u].at===i&&k[u].query===a.query))),T.draw(d[i],`layer ${a.layer}, head ${a.head}`,a.query),nt(d[i][a.query],a.query),U.textContent="This head, mean over the queries from 1 on",R(C,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([u,m])=>[s("dt",{},m),s("dd",{},S(f[i][u])),s("dd",{class:"at-meter","aria-hidden":"true"},s("i",{style:{width:`${(100*f[i][u]).toFixed(1)}%`}}))]),s("dt",{},"entropy of a row"),s("dd",{},S(f[i].entropy)),s("dd",{style:{textAlign:"left"}},"bits")),I.forEach((u,m)=>u.classList.toggle("on",m===i)),(I[i].offsetTop<W.scrollTop||I[i].offsetTop+I[i].offsetHeight>W.scrollTop+W.clientHeight)&&(W.scrollTop=I[i].offsetTop-W.clientHeight/2),w&&z.querySelector("[aria-pressed='true']").focus(),w=!1,e.soon(()=>Nt(r,d,n,[c,l],a))}let ot=e.follow(et,It),it=s("div",{class:"at-scroll"},z);e.lay({stage:s("div",{class:"at",role:"figure","aria-label":"The text with its weights, and all heads"},v.node,s("div",{class:"at-pair"},it,T.node)),presets:B,readout:M,drawer:[V,s("div",{class:"at-bar"},X("Copy as PyTorch",()=>Dt(d,n,[c,l],h())),D),s("div",{class:"at-box"},L,$,q),s("div",{class:"at-all"},s("div",{class:"at-box"},U,C),s("div",{class:"at-box"},W))]}),et();let rt=new ResizeObserver(ot);return rt.observe(v.node),e.defer(()=>rt.disconnect()),e.cleanup}var uo={render:ne};export{uo as default};
