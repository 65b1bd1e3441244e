var Wt="http://www.w3.org/2000/svg",Pt=Math.random().toString(36).slice(2,8),Ft=0,G=(t="tb")=>`${t}-${Pt}-${Ft+=1}`,i=(t,o,...e)=>wt(document.createElement(t),o,e),C=(t,o,...e)=>wt(document.createElementNS(Wt,t),o,e);function wt(t,o,e){for(let[r,n]of Object.entries(o??{}))n===!1||n===null||n===void 0||(typeof n=="function"&&r.startsWith("on")?t.addEventListener(r.slice(2),n):r==="style"&&typeof n=="object"?Vt(t,n):t.setAttribute(r,n===!0?"":n));return t.append(...yt(e)),t}function Vt(t,o){for(let[e,r]of Object.entries(o))e.startsWith("--")?t.style.setProperty(e,r):t.style[e]=r}var yt=t=>t.flat(1/0).filter(o=>o!=null&&o!==!1&&o!=="");function U(t,...o){return t.replaceChildren(...yt(o)),t}function J(t,o,e={}){let r=i("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:n=>r.getAttribute("aria-disabled")!=="true"&&o(n)},t);return r.disable=n=>n?r.setAttribute("aria-disabled","true"):r.removeAttribute("aria-disabled"),r.disable(!!e.disabled),r}var zt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function X(t,o){let e=i("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},o),r=()=>[...e.querySelectorAll("button, a[href]")].filter(l=>!l.hidden),n=l=>r().forEach(s=>s.tabIndex=s===l?0:-1);return e.addEventListener("focusin",l=>n(l.target.closest("button, a[href]"))),e.addEventListener("keydown",l=>{let s=r(),d=s.indexOf(l.target);if(d<0)return;let c=-1;l.key in zt?c=(d+zt[l.key]+s.length)%s.length:l.key==="Home"?c=0:l.key==="End"&&(c=s.length-1),!(c<0)&&(l.preventDefault(),s[c].focus())}),n(r()[0]),e.reset=()=>n(r().find(l=>l.tabIndex===0)??r()[0]),e}async function kt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Yt(t)}}function Yt(t){let o=document.activeElement,e=i("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let r=!1;try{r=document.execCommand("copy")}catch{r=!1}return e.remove(),o?.focus?.(),r}function Z(t,o,e={}){let r=i("span",{class:"tbviz-status",role:"status"}),n=0,l=d=>{clearTimeout(n),r.textContent=d,n=setTimeout(()=>r.textContent="",2500)},s=J(t,async()=>{let d=o();l(await kt(d)?"Copied":`Copying is not allowed here. Copy this: ${d}`)},e);return i("span",{class:"tbviz-copy"},s,r)}var lt=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function ct({ms:t,step:o,done:e}){if(lt()||t<=0)return o(1),e?.(),{cancel(){}};let r=0,n,l=s=>{n??(n=s);let d=Math.min(1,(s-n)/t);o(d),d<1?r=requestAnimationFrame(l):e?.()};return r=requestAnimationFrame(l),{cancel:()=>cancelAnimationFrame(r)}}var Qt=t=>{let o=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...o)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Gt=t=>{let o=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(o,e=>e.charCodeAt(0))))},tt=(t,o)=>typeof o=="string"&&/^[\w-]+$/.test(o)?`#tbviz-${t}:${o}`:`#tbviz-${t}=${Qt(o)}`;function $t(t,o){let e;try{e=decodeURIComponent(o)}catch{return}for(let[r,n]of[[":",l=>l],["=",Gt]]){let l=`#tbviz-${t}${r}`;if(e.startsWith(l))try{return n(e.slice(l.length))}catch{return}}}var dt=t=>t.closest(".viz-mount");function pt(t,o,e){let r=dt(t);return e||!r?e||o:`${o}-${[...document.querySelectorAll(".viz-mount")].indexOf(r)+1}`}var At=new WeakMap,Mt=(t,o)=>At.set(t,o);function ut({key:t,get:o,put:e,el:r,label:n="Copy link"}){let l=!!dt(r),s=At.get(r),d=w=>`${location.href.split("#")[0]}${tt(t,w)}`,c=l?Z(n,()=>d(o()),{title:"A link that opens this figure as it is now"}):i("span",{hidden:!0}),[m,b,k]=[void 0,"",0],_=()=>{let w=$t(t,location.hash);w===void 0&&!b||(e(w===void 0?m:w),clearTimeout(k),b=w===void 0?"":tt(t,o()),w!==void 0&&r.scrollIntoView({block:r.clientHeight>innerHeight?"start":"nearest"}))},A=()=>{let w=o(),H=tt(t,w);if(!(H===b||!b&&H===tt(t,m))){if(typeof w=="string")history.pushState(null,"",H);else if(b)history.replaceState(null,"",H);else return;b=H}},y=()=>{clearTimeout(k),k=setTimeout(A,250)};return c.cleanup=()=>{clearTimeout(k),removeEventListener("hashchange",_),s?.off("change",y)},c.start=()=>{l&&(m=o(),addEventListener("hashchange",_),_(),s?.on("change",y))},queueMicrotask(c.start),c}function nt(t,o,e){let r=!1,n=c=>e?c.target.closest(e):t,l=c=>getComputedStyle(c).touchAction==="none",s=(c,m)=>{let{left:b,top:k}=t.getBoundingClientRect();o(c.clientX-b,c.clientY-k,m)};t.addEventListener("pointerdown",c=>{let m=n(c);r=!!m&&c.pointerType==="touch"&&!l(m),!(!m||c.button||r)&&(t.setPointerCapture(c.pointerId),s(c,!0))}),t.addEventListener("pointermove",c=>t.hasPointerCapture(c.pointerId)&&s(c,!1)),t.addEventListener("click",c=>r&&s(c,!0));let d=c=>n(c)&&l(n(c))&&c.preventDefault();t.addEventListener("touchstart",d,{passive:!1})}var Et=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Ot=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,St=(...t)=>t.map(o=>`${o} .tbviz`).join(","),Tt=`
.tbviz{${Et}}
@media (prefers-color-scheme:dark){.tbviz{${Ot}}}
${St("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${Et}}
${St("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Ot}}
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
`;var Ct=3;function ft({model:t,el:o,contract:e,kind:r,reset:n={},changing:l,changed:s}){let d=[];Mt(o,t);let c=G(),m=i("div",{class:"tbviz-stage"}),b=i("div",{class:"tbviz-bar"}),k=i("div",{class:"tbviz-readout"}),_=i("div",{class:"tbviz-rest"}),A=i("p",{class:"tbviz-words","aria-live":"polite"}),y=i("p",{class:"tbviz-help",id:c},e.help),w=i("details",{class:"tbviz-drawer"},i("summary",{},"Details"),_,y),H=i("style",{},Tt),W=i("div",{class:"tbviz",role:"group","aria-label":e.title,"aria-describedby":e.help?c:null},H,i("div",{class:"tbviz-head"},i("p",{class:"tbviz-finding"},e.finding),i("p",{class:"tbviz-invitation"},e.invitation)),m,b,k,A,w),P=null,x=({presets:a=[],...f})=>{let h=a.slice(Ct),z=a.length>0&&X("Presets",a.slice(0,Ct)),R=h.length>0&&X("More presets",h);P=[z,R];let v=[[m,[f.stage]],[b,[z,f.bar]],[k,[f.readout]],[_,[R&&i("div",{},i("p",{class:"tbviz-title"},"Start from"),R),f.drawer]]];for(let[S,Y]of v)U(S,Y.flat()),S.hidden=!S.childNodes.length};W.addEventListener("keydown",a=>a.stopPropagation());let $=a=>{for(let[f,h]of Object.entries(a))t.set(f,h);t.save_changes()},M=a=>{A.textContent!==a&&(A.textContent=a),t.get("words")!==a&&$({words:a})},g=0,T=!1,E=(a,{ms:f=250,quiet:h=!1}={})=>{clearTimeout(g),T?h||(g=setTimeout(()=>M(a()),f)):M(a()),T=!0};d.push(()=>clearTimeout(g));let D=(a,f)=>{a.textContent!==f&&(a.textContent=f),a.hidden=!f},O=(a,f)=>{let h=()=>f(t.get(a));t.on(`change:${a}`,h),d.push(()=>t.off(`change:${a}`,h))},N=()=>Object.fromEntries(e.names.map(a=>[a,t.get(a)])),j=a=>{l?.(),$(a),s?.(a)},B=a=>j({...e.start,...n,...a}),F=a=>B(e.settingOf(a)),I={},it=(a,f,h)=>{if(!a||!h||!h.contains(a))return;let z=a.nextSibling;h.insertBefore(f.lastChild,z),f.prepend(a);for(let R of[f,h])R.reset()},ot=(a=F,f=e.presets)=>{for(let[h,{label:z}]of Object.entries(f))I[h]=J(z,()=>a(h));return Object.values(I)},rt=(a=[])=>{let f=[a].flat();for(let[h,z]of Object.entries(I))z.setAttribute("aria-pressed",String(f.includes(h)));return P&&it(I[f[0]],...P),P=null,f.map(h=>e.presets[h].note).join(" ")},st=({choose:a=F,presets:f=e.presets,accepts:h=e.isSetting,start:z=B,get:R=()=>e.presetOf(N())??N()}={})=>{let v=Y=>typeof Y!="string"?h(Y)&&z(Y):Object.hasOwn(f,Y)&&a(Y),S=ut({key:pt(o,r,t.get("link")),el:o,get:R,put:v});return d.push(S.cleanup),S},at=(a,f=e.names)=>{let h=!1,z=()=>{h||queueMicrotask(()=>{h=!1,a()}),h=!0};for(let R of f)O(R,z);return z},u=(a,f)=>{let h=a.clientWidth,z=new ResizeObserver(()=>{a.clientWidth&&a.clientWidth!==h&&(h=a.clientWidth,f())});z.observe(a),d.push(()=>z.disconnect())},p=()=>{for(;d.length;)d.pop()();W.remove()};return o.append(W),{root:W,stage:m,words:A,help:y,lay:x,say:M,soon:E,tell:D,on:O,set:$,setting:N,put:j,start:B,chips:ot,mark:rt,link:st,follow:at,watch:u,defer:a=>d.push(a),cleanup:p,css:a=>H.append(a)}}var K={title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token, then another head.",help:"Arrow keys move from head to head in the small maps, layers down and heads across, and from query to query in the text; a row of the large map is a query too. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{levels:ht}=K,L=255,mt=t=>Array.from({length:t},(o,e)=>e),Xt=t=>t.reduce((o,e)=>o+e,0);function Lt(t,o,e){let r=Uint8Array.from(atob(t),s=>s.charCodeAt(0)),n=[],l=0;for(;l<r.length;)n.push(mt(o).map(s=>{let d=e?s+1:o,c=[...r.subarray(l,l+d),...Array(o-d).fill(0)];return l+=d,c}));return n}function Q(t){let o=0;for(let e of t)e&&(o-=e/L*Math.log2(e/L));return o}function et(t){let o=mt(t.length).slice(1),e=r=>Xt(o.map(r));return{entropy:e(r=>Q(t[r]))/o.length,previous:e(r=>t[r][r-1])/(L*o.length),first:e(r=>t[r][0])/(L*o.length),itself:e(r=>t[r][r])/(L*o.length)}}function Zt(t,o){let e=t.map(et).map(r=>o==="sharp"?-r.entropy:r[o==="broad"?"entropy":o]);return e.indexOf(Math.max(...e))}var te={previous:(t,o)=>t[o-1]/L,first:t=>t[0]/L,itself:(t,o)=>t[o]/L,sharp:t=>-Q(t),broad:t=>Q(t)};function qt(t,o){let e=Zt(t,o),r=t[e],n=mt(r.length).slice(Math.min(2,r.length-1)),l=n.map(s=>te[o](r[s],s));return{at:e,query:n[l.indexOf(Math.max(...l))]}}var ee=t=>t?Math.max(1,Math.floor(ht*Math.sqrt(t/L)+.5)):0;function jt(t){let o={};return t.forEach((e,r)=>{var l;let n=e.map(ee);for(let s=0,d=0;s<n.length;s=d){for(;d<n.length&&n[d]===n[s];)d+=1;n[s]&&(o[l=n[s]]??(o[l]=[])).push(`M${s} ${r}h${d-s}v1h-${d-s}z`)}}),Object.entries(o).map(([e,r])=>[Number(e),r.join("")])}function Nt(t,{layers:o,heads:e,size:r}){if(!t||typeof t!="object")return!1;let n={layer:o,head:e,query:r};return Object.entries(t).every(([l,s])=>Object.hasOwn(n,l)&&Number.isInteger(s)&&s>=0&&s<n[l])}var oe=5,q=t=>t.toFixed(2),V=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Dt(t,o,e,[r,n],{layer:l,head:s,query:d}){let c=o[l*n+s],m=c[d],b=et(c),k=e?d+1:t.length,A=m.map((y,w)=>w).slice(0,k).sort((y,w)=>m[w]-m[y]||y-w).slice(0,oe).filter(y=>m[y]).map(y=>`${q(m[y]/L)} to ${y} “${V(t[y])}”`);return`Attention of ${t.length} tokens, ${r} layer${r===1?"":"s"} of ${n} head${n===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${l}, head ${s}, query ${d} “${V(t[d])}”: weight ${A.join(", ")}; the row sums to ${q(m.reduce((y,w)=>y+w,0)/L)}, its entropy is ${q(Q(m))} of at most ${q(Math.log2(k))} bits. Means of this head over the queries from 1 on: entropy ${q(b.entropy)} bits, weight of the previous token ${q(b.previous)}, of the first ${q(b.first)}, of the query itself ${q(b.itself)}.`}function re(t){let o=[""];for(let e of t){let r=o.at(-1);r&&r.length+e.length+2>84?o.push(`${e},`):o[o.length-1]=r?`${r} ${e},`:`${e},`}return o.map(e=>`    ${e}`).join(`
`)}function Rt(t,o,[,e],{layer:r,head:n,query:l}){let s=t[r*e+n][l];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${s.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${r}, ${n}, ${l}
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
${re(s.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var ae=7.9,ne=9,bt=t=>jt(t).map(([o,e])=>C("path",{d:e,class:"at-cell","fill-opacity":o/ht}));function gt(t,o){let e=G("at-hatch"),r=5*o;return[C("defs",{},C("pattern",{id:e,width:r,height:r,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},C("path",{d:`M0 0v${r}`,class:"at-line",style:{strokeWidth:.7*o}}))),C("path",{d:`M1 0${"v1h1".repeat(t-1)}V0z`,fill:`url(#${e})`})]}function _t({tokens:t,causal:o,pick:e}){let r=t.length,n=C("svg",{class:"at-arcs","aria-hidden":"true"}),l=t.map(x=>i("span",{class:"at-token","aria-hidden":"true"},V(x))),s=i("div",{class:"at-text"},l),d=i("div",{class:"at-inner"},n,s),c=i("div",{class:"at-strip",role:"slider",tabindex:0,"aria-label":"Query","aria-valuemin":0,"aria-valuemax":r-1},d),m=t.map(()=>C("path",{class:"at-arc"})),b=C("path",{class:"at-drop"});U(n,m,b);let k={cancel(){}},_=null,[A,y]=[[],0],w=t.map(x=>Math.max(1,V(x).length)*ae+1);function H(){let x=c.clientWidth,$=w.reduce((T,E)=>T+E,0),M=Math.max(0,Math.min(12,(x-$)/r)),g=0;return A=w.map((T,E)=>(l[E].style.width=`${T+M}px`,g+=T+M,g-(T+M)/2)),d.style.width=`${g}px`,g}function W({at:x,weights:$}){let M=n.clientHeight||150,g=M-2,T=Math.max(...A.map(E=>Math.abs(E-x)),1);m.forEach((E,D)=>{let[O,N]=[A[D],$[D]/L],j=Math.abs(O-x),B=j<1?22:26+(M-42)*Math.sqrt(j/T);E.setAttribute("d",j<1?`M${x-7} ${g}C${x-16} ${g-1.4*B} ${x+16} ${g-1.4*B} ${x+7} ${g}`:`M${x} ${g}C${x} ${g-B} ${O} ${g-B} ${O} ${g}`),E.style.strokeWidth=`${Math.max(.4,ne*N).toFixed(2)}px`,E.style.opacity=N?Math.min(1,.25+1.2*N).toFixed(3):"0"}),b.setAttribute("d",`M${x-5} ${g}h10`),_={at:x,weights:$}}function P(x,$,M){k.cancel();let g=H();n.setAttribute("width",g),c.setAttribute("aria-valuenow",$),c.setAttribute("aria-valuetext",M),l.forEach((D,O)=>{D.classList.toggle("on",O===$),D.classList.toggle("off",o&&O>$)});let[T,E]=[_,{at:A[$],weights:x}];if(c.scrollWidth>c.clientWidth&&(c.scrollLeft=E.at-c.clientWidth/2),!T||g!==y)W(E);else{let D=(O,N,j)=>O+(N-O)*j*j*(3-2*j);k=ct({ms:360,step:O=>W({at:D(T.at,E.at,O),weights:x.map((N,j)=>D(T.weights[j],N,O))})})}y=g}return nt(d,x=>e(A.reduce(($,M,g)=>Math.abs(M-x)<Math.abs(A[$]-x)?g:$,0))),{node:c,draw:P,stop:()=>k.cancel()}}function Ht({tokens:t,causal:o,pick:e}){let r=t.length,n=C("svg",{class:"at-svg",role:"img",viewBox:`-0.1 -0.1 ${r+.2} ${r+.2}`});nt(n,(m,b)=>e(Math.max(0,Math.min(r-1,Math.floor(b/n.clientHeight*r)))));let l=C("rect",{width:r,height:1,class:"at-row"}),s=C("g");U(n,o&&gt(r,r/110),s,C("rect",{width:r,height:r,class:"at-edge"}),l);let d="";function c(m,b,k){n.setAttribute("aria-label",`Weights of ${b}, queries down, keys across; the words below give the row of query ${k}`),l.style.transform=`translateY(${k}px)`,b!==d&&U(s,bt(m)),d=b}return{node:n,draw:c}}var Ut='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Bt=`
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
.at-text{display:flex;white-space:pre;font:13px/1.6 ${Ut}}
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
.tbviz .at-weights{display:flex;flex-wrap:wrap;gap:.2rem;list-style:none;margin:0;padding:0;font:max(12px,.9em)/1.25 ${Ut}}
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
`;var It=["layer","head","query"],vt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],xt=(t,o)=>Math.max(0,Math.min(o-1,t));function ie({model:t,el:o}){let e=ft({model:t,el:o,contract:K,kind:"attention"});e.css(Bt);let[r,n,l,s]=["tokens","causal","layers","heads"].map(u=>t.get(u)),d=r.length,c=Lt(t.get("packed"),d,n),m=c.map(et),b=()=>Object.fromEntries(It.map(u=>[u,t.get(u)])),k=()=>t.get("layer")*s+t.get("head"),_=u=>e.set({layer:Math.floor(u/s),head:u%s}),A=Object.fromEntries(Object.keys(K.presets).map(u=>[u,qt(c,u)])),y=!1,w=u=>{let{at:p,query:a}=A[u];e.set({layer:Math.floor(p/s),head:p%s,query:a})},H=e.link({choose:w,start:e.set,accepts:u=>Nt(u,{layers:l,heads:s,size:d}),get:b}),W=e.chips(w),P=i("p",{class:"at-note",role:"status"}),x=c.map((u,p)=>{let[a,f]=[Math.floor(p/s),p%s],h=vt.map(([z,R])=>`${R} ${q(m[p][z])}`).join("; ");return i("button",{type:"button",class:"at-head","aria-label":`layer ${a}, head ${f}; ${h}`,onclick:()=>_(p)},C("svg",{viewBox:`0 0 ${d} ${d}`,"aria-hidden":"true"},n&&gt(d,d/36),bt(u),C("rect",{width:d,height:d,class:"at-edge"})))}),$=i("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${s}, var(--at-thumb))`}},x);$.addEventListener("keydown",u=>{let{layer:p,head:a}=b(),f={ArrowRight:[p,a+1],ArrowLeft:[p,a-1],ArrowDown:[p+1,a],ArrowUp:[p-1,a],Home:[0,0],End:[l-1,s-1]}[u.key];f&&(u.preventDefault(),y=!0,e.set({layer:xt(f[0],l),head:xt(f[1],s)}),rt())});let M=u=>e.set({query:xt(u,d)}),g=_t({tokens:r,causal:n,pick:M});e.defer(g.stop),g.node.addEventListener("keydown",u=>{let p=t.get("query"),a={ArrowRight:p+1,ArrowUp:p+1,ArrowLeft:p-1,ArrowDown:p-1,PageUp:p+8,PageDown:p-8,Home:0,End:d-1}[u.key];a!==void 0&&(u.preventDefault(),M(a))});let T=Ht({tokens:r,causal:n,pick:M}),E=i("p",{class:"at-told"}),D=i("p",{class:"at-title"}),O=i("ol",{class:"at-weights"}),N=i("p",{class:"at-small"}),j=i("dl",{class:"at-lines"}),B=i("p",{class:"at-title"}),F=c.map((u,p)=>i("tr",{},i("th",{scope:"row"},`layer ${Math.floor(p/s)}, head ${p%s}`),vt.map(([a])=>i("td",{},q(m[p][a]))))),I=i("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},i("table",{class:"at-table"},i("thead",{},i("tr",{},i("th",{scope:"col"},"mean over queries"),vt.map(([,u])=>i("th",{scope:"col"},u)))),i("tbody",{},F)));function it(u,p){let a=n?p+1:d,f=v=>n&&v>p?"–":u[v]?q(u[v]/L):"0",h=u.map((v,S)=>S).filter(v=>u[v]).sort((v,S)=>u[S]-u[v]||v-S),z=v=>`“${V(r[v])}”`,R=h.slice(0,3).map(v=>[z(v)," ",i("b",{},f(v))]);g.draw(u,p,`${p} ${z(p)}: ${h.slice(0,3).map(v=>`${f(v)} to ${v} ${z(v)}`).join(", ")}`),U(E,`Layer ${t.get("layer")}, head ${t.get("head")}: ${z(p)} looks at `,R.map((v,S)=>[S?", ":"",v]),h.length>3?" …":"."),D.textContent=`Query ${p} ${z(p)}: weight of each key`,U(O,r.map((v,S)=>i("li",{class:n&&S>p?"off":null},i("span",{},V(v)),i("small",{},f(S))))),N.textContent=`The row sums to ${q(u.reduce((v,S)=>v+S,0)/L)} over ${a} key${a===1?"":"s"}; entropy ${q(Q(u))} of at most ${q(Math.log2(a))} bits.${n?" – is masked: later than the query.":""}`}function ot(){let u=b(),p=k();x.forEach((a,f)=>{a.setAttribute("aria-pressed",String(f===p)),a.tabIndex=f===p?0:-1}),e.tell(P,e.mark(Object.keys(K.presets).filter(a=>A[a].at===p&&A[a].query===u.query))),T.draw(c[p],`layer ${u.layer}, head ${u.head}`,u.query),it(c[p][u.query],u.query),B.textContent="This head, mean over the queries from 1 on",U(j,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([a,f])=>[i("dt",{},f),i("dd",{},q(m[p][a])),i("dd",{class:"at-meter","aria-hidden":"true"},i("i",{style:{width:`${(100*m[p][a]).toFixed(1)}%`}}))]),i("dt",{},"entropy of a row"),i("dd",{},q(m[p].entropy)),i("dd",{style:{textAlign:"left"}},"bits")),F.forEach((a,f)=>a.classList.toggle("on",f===p)),(F[p].offsetTop<I.scrollTop||F[p].offsetTop+F[p].offsetHeight>I.scrollTop+I.clientHeight)&&(I.scrollTop=F[p].offsetTop-I.clientHeight/2),y&&$.querySelector("[aria-pressed='true']").focus(),y=!1,e.soon(()=>Dt(r,c,n,[l,s],u))}let rt=e.follow(ot,It),st=i("div",{class:"at-scroll"},$);e.lay({stage:i("div",{class:"at",role:"figure","aria-label":"The text with its weights, and all heads"},g.node,i("div",{class:"at-pair"},st,T.node)),presets:W,readout:E,drawer:[P,i("div",{class:"at-bar"},Z("Copy as PyTorch",()=>Rt(c,n,[l,s],b())),H),i("div",{class:"at-box"},D,O,N),i("div",{class:"at-all"},i("div",{class:"at-box"},B,j),i("div",{class:"at-box"},I))]}),ot();let at=new ResizeObserver(rt);return at.observe(g.node),e.defer(()=>at.disconnect()),e.cleanup}var fo={render:ie};export{fo as default};
