var Bt="http://www.w3.org/2000/svg",Wt=Math.random().toString(36).slice(2,8),Pt=0,Y=(t="tb")=>`${t}-${Wt}-${Pt+=1}`,s=(t,r,...e)=>vt(document.createElement(t),r,e),E=(t,r,...e)=>vt(document.createElementNS(Bt,t),r,e);function vt(t,r,e){for(let[o,n]of Object.entries(r??{}))n===!1||n===null||n===void 0||(typeof n=="function"&&o.startsWith("on")?t.addEventListener(o.slice(2),n):o==="style"&&typeof n=="object"?Ft(t,n):t.setAttribute(o,n===!0?"":n));return t.append(...xt(e)),t}function Ft(t,r){for(let[e,o]of Object.entries(r))e.startsWith("--")?t.style.setProperty(e,o):t.style[e]=o}var xt=t=>t.flat(1/0).filter(r=>r!=null&&r!==!1&&r!=="");function _(t,...r){return t.replaceChildren(...xt(r)),t}function Q(t,r,e={}){let o=s("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:n=>o.getAttribute("aria-disabled")!=="true"&&r(n)},t);return o.disable=n=>n?o.setAttribute("aria-disabled","true"):o.removeAttribute("aria-disabled"),o.disable(!!e.disabled),o}var wt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function J(t,r){let e=s("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},r),o=()=>[...e.querySelectorAll("button, a[href]")].filter(i=>!i.hidden),n=i=>o().forEach(c=>c.tabIndex=c===i?0:-1);return e.addEventListener("focusin",i=>n(i.target.closest("button, a[href]"))),e.addEventListener("keydown",i=>{let c=o(),d=c.indexOf(i.target);if(d<0)return;let f=-1;i.key in wt?f=(d+wt[i.key]+c.length)%c.length:i.key==="Home"?f=0:i.key==="End"&&(f=c.length-1),!(f<0)&&(i.preventDefault(),c[f].focus())}),n(o()[0]),e.reset=()=>n(o().find(i=>i.tabIndex===0)??o()[0]),e}async function yt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Vt(t)}}function Vt(t){let r=document.activeElement,e=s("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let o=!1;try{o=document.execCommand("copy")}catch{o=!1}return e.remove(),r?.focus?.(),o}function K(t,r,e={}){let o=s("span",{class:"tbviz-status",role:"status"}),n=0,i=d=>{clearTimeout(n),o.textContent=d,n=setTimeout(()=>o.textContent="",2500)},c=Q(t,async()=>{let d=r();i(await yt(d)?"Copied":`Copying is not allowed here. Copy this: ${d}`)},e);return s("span",{class:"tbviz-copy"},c,o)}var st=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function lt({ms:t,step:r,done:e}){if(st()||t<=0)return r(1),e?.(),{cancel(){}};let o=0,n,i=c=>{n??(n=c);let d=Math.min(1,(c-n)/t);r(d),d<1?o=requestAnimationFrame(i):e?.()};return o=requestAnimationFrame(i),{cancel:()=>cancelAnimationFrame(o)}}var Yt=t=>{let r=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...r)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Qt=t=>{let r=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(r,e=>e.charCodeAt(0))))},X=(t,r)=>typeof r=="string"&&/^[\w-]+$/.test(r)?`#tbviz-${t}:${r}`:`#tbviz-${t}=${Yt(r)}`;function zt(t,r){let e;try{e=decodeURIComponent(r)}catch{return}for(let[o,n]of[[":",i=>i],["=",Qt]]){let i=`#tbviz-${t}${o}`;if(e.startsWith(i))try{return n(e.slice(i.length))}catch{return}}}var ct=t=>t.closest(".viz-mount");function dt(t,r,e){let o=ct(t);return e||!o?e||r:`${r}-${[...document.querySelectorAll(".viz-mount")].indexOf(o)+1}`}var kt=new WeakMap,$t=(t,r)=>kt.set(t,r);function pt({key:t,get:r,put:e,el:o,label:n="Copy link"}){let i=!!ct(o),c=kt.get(o),d=x=>`${location.href.split("#")[0]}${X(t,x)}`,f=i?K(n,()=>d(r()),{title:"A link that opens this figure as it is now"}):s("span",{hidden:!0}),[v,g,z]=[void 0,"",0],j=()=>{let x=zt(t,location.hash);x===void 0&&!g||(e(x===void 0?v:x),clearTimeout(z),g=x===void 0?"":X(t,r()),x!==void 0&&o.scrollIntoView({block:o.clientHeight>innerHeight?"start":"nearest"}))},$=()=>{let x=r(),R=X(t,x);if(!(R===g||!g&&R===X(t,v))){if(typeof x=="string")history.pushState(null,"",R);else if(g)history.replaceState(null,"",R);else return;g=R}},w=()=>{clearTimeout(z),z=setTimeout($,250)};return f.cleanup=()=>{clearTimeout(z),removeEventListener("hashchange",j),c?.off("change",w)},f.start=()=>{i&&(v=r(),addEventListener("hashchange",j),j(),c?.on("change",w))},queueMicrotask(f.start),f}function at(t,r,e){let o=!1,n=(i,c)=>{let{left:d,top:f}=t.getBoundingClientRect();r(i.clientX-d,i.clientY-f,c)};t.addEventListener("pointerdown",i=>{let c=e?i.target.closest(e):t;o=!!c&&i.pointerType==="touch"&&getComputedStyle(c).touchAction!=="none",!(!c||i.button||o)&&(t.setPointerCapture(i.pointerId),n(i,!0))}),t.addEventListener("pointermove",i=>t.hasPointerCapture(i.pointerId)&&n(i,!1)),t.addEventListener("click",i=>o&&n(i,!0))}var At=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Mt=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Et=(...t)=>t.map(r=>`${r} .tbviz`).join(","),Ot=`
.tbviz{${At}}
@media (prefers-color-scheme:dark){.tbviz{${Mt}}}
${Et("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${At}}
${Et("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Mt}}
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
@media (max-width:480px){.tbviz{padding:.45rem .6rem;gap:.3rem;line-height:1.38}.tbviz-bar{gap:.35rem .5rem}.tbviz-finding{font-size:1rem;line-height:1.25}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
.tbviz-drawn{touch-action:pan-y pinch-zoom}
@media (pointer:coarse){.tbviz-cells :is([role=gridcell],.tbviz-small){pointer-events:none;cursor:inherit}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var St=3;function ft({model:t,el:r,contract:e,kind:o,reset:n={},changing:i,changed:c}){let d=[];$t(r,t);let f=Y(),v=s("div",{class:"tbviz-stage"}),g=s("div",{class:"tbviz-bar"}),z=s("div",{class:"tbviz-readout"}),j=s("div",{class:"tbviz-rest"}),$=s("p",{class:"tbviz-words","aria-live":"polite"}),w=s("p",{class:"tbviz-help",id:f},e.help),x=s("details",{class:"tbviz-drawer"},s("summary",{},"Settings and numbers"),j,w),R=s("style",{},Ot),B=s("div",{class:"tbviz",role:"group","aria-label":e.title,"aria-describedby":e.help?f:null},R,s("div",{class:"tbviz-head"},s("p",{class:"tbviz-finding"},e.finding),s("p",{class:"tbviz-invitation"},e.invitation)),v,g,z,$,x),F=({presets:a=[],...l})=>{let p=a.slice(St),u=[[v,[l.stage]],[g,[a.length>0&&J("Presets",a.slice(0,St)),l.bar]],[z,[l.readout]],[j,[p.length>0&&s("div",{},s("p",{class:"tbviz-title"},"Start from"),J("More presets",p)),l.drawer]]];for(let[N,D]of u)_(N,D.flat()),N.hidden=!N.childNodes.length};B.addEventListener("keydown",a=>a.stopPropagation());let m=a=>{for(let[l,p]of Object.entries(a))t.set(l,p);t.save_changes()},y=a=>{$.textContent!==a&&($.textContent=a),t.get("words")!==a&&m({words:a})},A=0,b=!1,S=(a,{ms:l=250,quiet:p=!1}={})=>{clearTimeout(A),b?p||(A=setTimeout(()=>y(a()),l)):y(a()),b=!0};d.push(()=>clearTimeout(A));let M=(a,l)=>{a.textContent!==l&&(a.textContent=l),a.hidden=!l},C=(a,l)=>{let p=()=>l(t.get(a));t.on(`change:${a}`,p),d.push(()=>t.off(`change:${a}`,p))},k=()=>Object.fromEntries(e.names.map(a=>[a,t.get(a)])),q=a=>{i?.(),m(a),c?.(a)},T=a=>q({...e.start,...n,...a}),U=a=>T(e.settingOf(a)),I={},W=(a=U,l=e.presets)=>{for(let[p,{label:u}]of Object.entries(l))I[p]=Q(u,()=>a(p));return Object.values(I)},nt=(a=[])=>{let l=[a].flat();for(let[p,u]of Object.entries(I))u.setAttribute("aria-pressed",String(l.includes(p)));return l.map(p=>e.presets[p].note).join(" ")},et=({choose:a=U,presets:l=e.presets,accepts:p=e.isSetting,start:u=T,get:N=()=>e.presetOf(k())??k()}={})=>{let D=h=>typeof h!="string"?p(h)&&u(h):Object.hasOwn(l,h)&&a(h),V=pt({key:dt(r,o,t.get("link")),el:r,get:N,put:D});return d.push(V.cleanup),V},ot=(a,l=e.names)=>{let p=!1,u=()=>{p||queueMicrotask(()=>{p=!1,a()}),p=!0};for(let N of l)C(N,u);return u},it=(a,l)=>{let p=a.clientWidth,u=new ResizeObserver(()=>{a.clientWidth&&a.clientWidth!==p&&(p=a.clientWidth,l())});u.observe(a),d.push(()=>u.disconnect())},rt=()=>{for(;d.length;)d.pop()();B.remove()};return r.append(B),{root:B,stage:v,words:$,help:w,lay:F,say:y,soon:S,tell:M,on:C,set:m,setting:k,put:q,start:T,chips:W,mark:nt,link:et,follow:ot,watch:it,defer:a=>d.push(a),cleanup:rt,css:a=>R.append(a)}}var G={title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token, then another head.",help:"Arrow keys move from head to head in the small maps, layers down and heads across, and from query to query in the text; a row of the large map is a query too. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{levels:ut}=G,L=255,Tt=t=>Array.from({length:t},(r,e)=>e),Kt=t=>t.reduce((r,e)=>r+e,0);function Ct(t,r,e){let o=Uint8Array.from(atob(t),c=>c.charCodeAt(0)),n=[],i=0;for(;i<o.length;)n.push(Tt(r).map(c=>{let d=e?c+1:r,f=[...o.subarray(i,i+d),...Array(r-d).fill(0)];return i+=d,f}));return n}function Z(t){let r=0;for(let e of t)e&&(r-=e/L*Math.log2(e/L));return r}function tt(t){let r=Tt(t.length).slice(1),e=o=>Kt(r.map(o));return{entropy:e(o=>Z(t[o]))/r.length,previous:e(o=>t[o][o-1])/(L*r.length),first:e(o=>t[o][0])/(L*r.length),itself:e(o=>t[o][o])/(L*r.length)}}function Lt(t,r){let e=t.map(tt).map(o=>r==="sharp"?-o.entropy:o[r==="broad"?"entropy":r]);return e.indexOf(Math.max(...e))}var Xt=t=>t?Math.max(1,Math.floor(ut*Math.sqrt(t/L)+.5)):0;function jt(t){let r={};return t.forEach((e,o)=>{var i;let n=e.map(Xt);for(let c=0,d=0;c<n.length;c=d){for(;d<n.length&&n[d]===n[c];)d+=1;n[c]&&(r[i=n[c]]??(r[i]=[])).push(`M${c} ${o}h${d-c}v1h-${d-c}z`)}}),Object.entries(r).map(([e,o])=>[Number(e),o.join("")])}function qt(t,{layers:r,heads:e,size:o}){if(!t||typeof t!="object")return!1;let n={layer:r,head:e,query:o};return Object.entries(t).every(([i,c])=>Object.hasOwn(n,i)&&Number.isInteger(c)&&c>=0&&c<n[i])}var Zt=5,O=t=>t.toFixed(2),P=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Nt(t,r,e,[o,n],{layer:i,head:c,query:d}){let f=r[i*n+c],v=f[d],g=tt(f),z=e?d+1:t.length,$=v.map((w,x)=>x).slice(0,z).sort((w,x)=>v[x]-v[w]||w-x).slice(0,Zt).filter(w=>v[w]).map(w=>`${O(v[w]/L)} to ${w} “${P(t[w])}”`);return`Attention of ${t.length} tokens, ${o} layer${o===1?"":"s"} of ${n} head${n===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${i}, head ${c}, query ${d} “${P(t[d])}”: weight ${$.join(", ")}; the row sums to ${O(v.reduce((w,x)=>w+x,0)/L)}, its entropy is ${O(Z(v))} of at most ${O(Math.log2(z))} bits. Means of this head over the queries from 1 on: entropy ${O(g.entropy)} bits, weight of the previous token ${O(g.previous)}, of the first ${O(g.first)}, of the query itself ${O(g.itself)}.`}function te(t){let r=[""];for(let e of t){let o=r.at(-1);o&&o.length+e.length+2>84?r.push(`${e},`):r[r.length-1]=o?`${o} ${e},`:`${e},`}return r.map(e=>`    ${e}`).join(`
`)}function Rt(t,r,[,e],{layer:o,head:n,query:i}){let c=t[o*e+n][i];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${c.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${o}, ${n}, ${i}
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
${r?`scores[QUERY + 1 :] = float("-inf")  # later keys
`:""}row = scores.softmax(-1)
print(row)

# The figure keeps weights in 255ths.
shown = torch.tensor([
${te(c.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var ee=7.9,oe=9,ht=t=>jt(t).map(([r,e])=>E("path",{d:e,class:"at-cell","fill-opacity":r/ut}));function mt(t,r){let e=Y("at-hatch"),o=5*r;return[E("defs",{},E("pattern",{id:e,width:o,height:o,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},E("path",{d:`M0 0v${o}`,class:"at-line",style:{strokeWidth:.7*r}}))),E("path",{d:`M1 0${"v1h1".repeat(t-1)}V0z`,fill:`url(#${e})`})]}function _t({tokens:t,causal:r,pick:e}){let o=t.length,n=E("svg",{class:"at-arcs","aria-hidden":"true"}),i=t.map(m=>s("span",{class:"at-token","aria-hidden":"true"},P(m))),c=s("div",{class:"at-text"},i),d=s("div",{class:"at-inner"},n,c),f=s("div",{class:"at-strip",role:"slider",tabindex:0,"aria-label":"Query","aria-valuemin":0,"aria-valuemax":o-1},d),v=t.map(()=>E("path",{class:"at-arc"})),g=E("path",{class:"at-drop"});_(n,v,g);let z={cancel(){}},j=null,[$,w]=[[],0],x=t.map(m=>Math.max(1,P(m).length)*ee+1);function R(){let m=f.clientWidth,y=x.reduce((S,M)=>S+M,0),A=Math.max(0,Math.min(12,(m-y)/o)),b=0;return $=x.map((S,M)=>(i[M].style.width=`${S+A}px`,b+=S+A,b-(S+A)/2)),d.style.width=`${b}px`,b}function B({at:m,weights:y}){let A=n.clientHeight||150,b=A-2,S=Math.max(...$.map(M=>Math.abs(M-m)),1);v.forEach((M,C)=>{let[k,q]=[$[C],y[C]/L],T=Math.abs(k-m),U=T<1?22:26+(A-42)*Math.sqrt(T/S);M.setAttribute("d",T<1?`M${m-7} ${b}C${m-16} ${b-1.4*U} ${m+16} ${b-1.4*U} ${m+7} ${b}`:`M${m} ${b}C${m} ${b-U} ${k} ${b-U} ${k} ${b}`),M.style.strokeWidth=`${Math.max(.4,oe*q).toFixed(2)}px`,M.style.opacity=q?Math.min(1,.25+1.2*q).toFixed(3):"0"}),g.setAttribute("d",`M${m-5} ${b}h10`),j={at:m,weights:y}}function F(m,y,A){z.cancel();let b=R();n.setAttribute("width",b),f.setAttribute("aria-valuenow",y),f.setAttribute("aria-valuetext",A),i.forEach((C,k)=>{C.classList.toggle("on",k===y),C.classList.toggle("off",r&&k>y)});let[S,M]=[j,{at:$[y],weights:m}];if(f.scrollWidth>f.clientWidth&&(f.scrollLeft=M.at-f.clientWidth/2),!S||b!==w)B(M);else{let C=(k,q,T)=>k+(q-k)*T*T*(3-2*T);z=lt({ms:360,step:k=>B({at:C(S.at,M.at,k),weights:m.map((q,T)=>C(S.weights[T],q,k))})})}w=b}return at(d,m=>e($.reduce((y,A,b)=>Math.abs(A-m)<Math.abs($[y]-m)?b:y,0))),{node:f,draw:F,stop:()=>z.cancel()}}function Dt({tokens:t,causal:r,pick:e}){let o=t.length,n=E("svg",{class:"at-svg",role:"img",viewBox:`-0.1 -0.1 ${o+.2} ${o+.2}`});at(n,(v,g)=>e(Math.max(0,Math.min(o-1,Math.floor(g/n.clientHeight*o)))));let i=E("rect",{width:o,height:1,class:"at-row"}),c=E("g");_(n,r&&mt(o,o/110),c,E("rect",{width:o,height:o,class:"at-edge"}),i);let d="";function f(v,g,z){n.setAttribute("aria-label",`Weights of ${g}, queries down, keys across; the words below give the row of query ${z}`),i.style.transform=`translateY(${z}px)`,g!==d&&_(c,ht(v)),d=g}return{node:n,draw:f}}var Ht='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Ut=`
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
`;var It=["layer","head","query"],bt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],gt=(t,r)=>Math.max(0,Math.min(r-1,t));function re({model:t,el:r}){let e=ft({model:t,el:r,contract:G,kind:"attention"});e.css(Ut);let[o,n,i,c]=["tokens","causal","layers","heads"].map(a=>t.get(a)),d=o.length,f=Ct(t.get("packed"),d,n),v=f.map(tt),g=()=>Object.fromEntries(It.map(a=>[a,t.get(a)])),z=()=>t.get("layer")*c+t.get("head"),j=a=>e.set({layer:Math.floor(a/c),head:a%c}),$=Object.fromEntries(Object.keys(G.presets).map(a=>[a,Lt(f,a)])),w=!1,x=a=>j($[a]),R=e.link({choose:x,start:e.set,accepts:a=>qt(a,{layers:i,heads:c,size:d}),get:g}),B=e.chips(x),F=s("p",{class:"at-note",role:"status"}),m=f.map((a,l)=>{let[p,u]=[Math.floor(l/c),l%c],N=bt.map(([D,V])=>`${V} ${O(v[l][D])}`).join("; ");return s("button",{type:"button",class:"at-head","aria-label":`layer ${p}, head ${u}; ${N}`,onclick:()=>j(l)},E("svg",{viewBox:`0 0 ${d} ${d}`,"aria-hidden":"true"},n&&mt(d,d/36),ht(a),E("rect",{width:d,height:d,class:"at-edge"})))}),y=s("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${c}, var(--at-thumb))`}},m);y.addEventListener("keydown",a=>{let{layer:l,head:p}=g(),u={ArrowRight:[l,p+1],ArrowLeft:[l,p-1],ArrowDown:[l+1,p],ArrowUp:[l-1,p],Home:[0,0],End:[i-1,c-1]}[a.key];u&&(a.preventDefault(),w=!0,e.set({layer:gt(u[0],i),head:gt(u[1],c)}),ot())});let A=a=>e.set({query:gt(a,d)}),b=_t({tokens:o,causal:n,pick:A});e.defer(b.stop),b.node.addEventListener("keydown",a=>{let l=t.get("query"),p={ArrowRight:l+1,ArrowUp:l+1,ArrowLeft:l-1,ArrowDown:l-1,PageUp:l+8,PageDown:l-8,Home:0,End:d-1}[a.key];p!==void 0&&(a.preventDefault(),A(p))});let S=Dt({tokens:o,causal:n,pick:A}),M=s("p",{class:"at-told"}),C=s("p",{class:"at-title"}),k=s("ol",{class:"at-weights"}),q=s("p",{class:"at-small"}),T=s("dl",{class:"at-lines"}),U=s("p",{class:"at-title"}),I=f.map((a,l)=>s("tr",{},s("th",{scope:"row"},`layer ${Math.floor(l/c)}, head ${l%c}`),bt.map(([p])=>s("td",{},O(v[l][p]))))),W=s("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},s("table",{class:"at-table"},s("thead",{},s("tr",{},s("th",{scope:"col"},"mean over queries"),bt.map(([,a])=>s("th",{scope:"col"},a)))),s("tbody",{},I)));function nt(a,l){let p=n?l+1:d,u=h=>n&&h>l?"–":a[h]?O(a[h]/L):"0",N=a.map((h,H)=>H).filter(h=>a[h]).sort((h,H)=>a[H]-a[h]||h-H),D=h=>`“${P(o[h])}”`,V=N.slice(0,3).map(h=>[D(h)," ",s("b",{},u(h))]);b.draw(a,l,`${l} ${D(l)}: ${N.slice(0,3).map(h=>`${u(h)} to ${h} ${D(h)}`).join(", ")}`),_(M,`Layer ${t.get("layer")}, head ${t.get("head")}: ${D(l)} looks at `,V.map((h,H)=>[H?", ":"",h]),N.length>3?" …":"."),C.textContent=`Query ${l} ${D(l)}: weight of each key`,_(k,o.map((h,H)=>s("li",{class:n&&H>l?"off":null},s("span",{},P(h)),s("small",{},u(H))))),q.textContent=`The row sums to ${O(a.reduce((h,H)=>h+H,0)/L)} over ${p} key${p===1?"":"s"}; entropy ${O(Z(a))} of at most ${O(Math.log2(p))} bits.${n?" – is masked: later than the query.":""}`}function et(){let a=g(),l=z();m.forEach((p,u)=>{p.setAttribute("aria-pressed",String(u===l)),p.tabIndex=u===l?0:-1}),e.tell(F,e.mark(Object.keys(G.presets).filter(p=>$[p]===l))),S.draw(f[l],`layer ${a.layer}, head ${a.head}`,a.query),nt(f[l][a.query],a.query),U.textContent="This head, mean over the queries from 1 on",_(T,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([p,u])=>[s("dt",{},u),s("dd",{},O(v[l][p])),s("dd",{class:"at-meter","aria-hidden":"true"},s("i",{style:{width:`${(100*v[l][p]).toFixed(1)}%`}}))]),s("dt",{},"entropy of a row"),s("dd",{},O(v[l].entropy)),s("dd",{style:{textAlign:"left"}},"bits")),I.forEach((p,u)=>p.classList.toggle("on",u===l)),(I[l].offsetTop<W.scrollTop||I[l].offsetTop+I[l].offsetHeight>W.scrollTop+W.clientHeight)&&(W.scrollTop=I[l].offsetTop-W.clientHeight/2),w&&y.querySelector("[aria-pressed='true']").focus(),w=!1,e.soon(()=>Nt(o,f,n,[i,c],a))}let ot=e.follow(et,It),it=s("div",{class:"at-scroll"},y);e.lay({stage:s("div",{class:"at",role:"figure","aria-label":"The text with its weights, and all heads"},b.node,s("div",{class:"at-pair"},it,S.node)),presets:B,readout:M,drawer:[F,s("div",{class:"at-bar"},K("Copy as PyTorch",()=>Rt(f,n,[i,c],g())),R),s("div",{class:"at-box"},C,k,q),s("div",{class:"at-all"},s("div",{class:"at-box"},U,T),s("div",{class:"at-box"},W))]}),et();let rt=new ResizeObserver(ot);return rt.observe(b.node),e.defer(()=>rt.disconnect()),e.cleanup}var co={render:re};export{co as default};
