var Bt="http://www.w3.org/2000/svg",Wt=Math.random().toString(36).slice(2,8),Pt=0,Y=(t="tb")=>`${t}-${Wt}-${Pt+=1}`,i=(t,r,...e)=>vt(document.createElement(t),r,e),E=(t,r,...e)=>vt(document.createElementNS(Bt,t),r,e);function vt(t,r,e){for(let[o,n]of Object.entries(r??{}))n===!1||n===null||n===void 0||(typeof n=="function"&&o.startsWith("on")?t.addEventListener(o.slice(2),n):o==="style"&&typeof n=="object"?Ft(t,n):t.setAttribute(o,n===!0?"":n));return t.append(...xt(e)),t}function Ft(t,r){for(let[e,o]of Object.entries(r))e.startsWith("--")?t.style.setProperty(e,o):t.style[e]=o}var xt=t=>t.flat(1/0).filter(r=>r!=null&&r!==!1&&r!=="");function R(t,...r){return t.replaceChildren(...xt(r)),t}function Q(t,r,e={}){let o=i("button",{type:"button",class:["tbviz-button",e.kind&&`tbviz-${e.kind}`].filter(Boolean).join(" "),title:e.title,"aria-label":e.name,onclick:n=>o.getAttribute("aria-disabled")!=="true"&&r(n)},t);return o.disable=n=>n?o.setAttribute("aria-disabled","true"):o.removeAttribute("aria-disabled"),o.disable(!!e.disabled),o}var wt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function J(t,r){let e=i("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},r),o=()=>[...e.querySelectorAll("button, a[href]")].filter(c=>!c.hidden),n=c=>o().forEach(l=>l.tabIndex=l===c?0:-1);return e.addEventListener("focusin",c=>n(c.target.closest("button, a[href]"))),e.addEventListener("keydown",c=>{let l=o(),p=l.indexOf(c.target);if(p<0)return;let d=-1;c.key in wt?d=(p+wt[c.key]+l.length)%l.length:c.key==="Home"?d=0:c.key==="End"&&(d=l.length-1),!(d<0)&&(c.preventDefault(),l[d].focus())}),n(o()[0]),e.reset=()=>n(o().find(c=>c.tabIndex===0)??o()[0]),e}async function yt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Vt(t)}}function Vt(t){let r=document.activeElement,e=i("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});e.value=t,document.body.append(e),e.select();let o=!1;try{o=document.execCommand("copy")}catch{o=!1}return e.remove(),r?.focus?.(),o}function K(t,r,e={}){let o=i("span",{class:"tbviz-status",role:"status"}),n=0,c=p=>{clearTimeout(n),o.textContent=p,n=setTimeout(()=>o.textContent="",2500)},l=Q(t,async()=>{let p=r();c(await yt(p)?"Copied":`Copying is not allowed here. Copy this: ${p}`)},e);return i("span",{class:"tbviz-copy"},l,o)}var st=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function lt({ms:t,step:r,done:e}){if(st()||t<=0)return r(1),e?.(),{cancel(){}};let o=0,n,c=l=>{n??(n=l);let p=Math.min(1,(l-n)/t);r(p),p<1?o=requestAnimationFrame(c):e?.()};return o=requestAnimationFrame(c),{cancel:()=>cancelAnimationFrame(o)}}var Yt=t=>{let r=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...r)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Qt=t=>{let r=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(r,e=>e.charCodeAt(0))))},X=(t,r)=>typeof r=="string"&&/^[\w-]+$/.test(r)?`#tbviz-${t}:${r}`:`#tbviz-${t}=${Yt(r)}`;function zt(t,r){let e;try{e=decodeURIComponent(r)}catch{return}for(let[o,n]of[[":",c=>c],["=",Qt]]){let c=`#tbviz-${t}${o}`;if(e.startsWith(c))try{return n(e.slice(c.length))}catch{return}}}var ct=t=>t.closest(".viz-mount");function dt(t,r,e){let o=ct(t);return e||!o?e||r:`${r}-${[...document.querySelectorAll(".viz-mount")].indexOf(o)+1}`}var kt=new WeakMap,$t=(t,r)=>kt.set(t,r);function pt({key:t,get:r,put:e,el:o,label:n="Copy link"}){let c=!!ct(o),l=kt.get(o),p=x=>`${location.href.split("#")[0]}${X(t,x)}`,d=c?K(n,()=>p(r()),{title:"A link that opens this figure as it is now"}):i("span",{hidden:!0}),[u,m,y]=[void 0,"",0],j=()=>{let x=zt(t,location.hash);x===void 0&&!m||(e(x===void 0?u:x),clearTimeout(y),m=x===void 0?"":X(t,r()),x!==void 0&&o.scrollIntoView({block:o.clientHeight>innerHeight?"start":"nearest"}))},$=()=>{let x=r(),D=X(t,x);if(!(D===m||!m&&D===X(t,u))){if(typeof x=="string")history.pushState(null,"",D);else if(m)history.replaceState(null,"",D);else return;m=D}},w=()=>{clearTimeout(y),y=setTimeout($,250)};return d.cleanup=()=>{clearTimeout(y),removeEventListener("hashchange",j),l?.off("change",w)},d.start=()=>{c&&(u=r(),addEventListener("hashchange",j),j(),l?.on("change",w))},queueMicrotask(d.start),d}function at(t,r,e){let o=!1,n=d=>e?d.target.closest(e):t,c=d=>getComputedStyle(d).touchAction==="none",l=(d,u)=>{let{left:m,top:y}=t.getBoundingClientRect();r(d.clientX-m,d.clientY-y,u)};t.addEventListener("pointerdown",d=>{let u=n(d);o=!!u&&d.pointerType==="touch"&&!c(u),!(!u||d.button||o)&&(t.setPointerCapture(d.pointerId),l(d,!0))}),t.addEventListener("pointermove",d=>t.hasPointerCapture(d.pointerId)&&l(d,!1)),t.addEventListener("click",d=>o&&l(d,!0));let p=d=>n(d)&&c(n(d))&&d.preventDefault();t.addEventListener("touchstart",p,{passive:!1})}var At=`color-scheme:light;
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
`;var St=3;function ft({model:t,el:r,contract:e,kind:o,reset:n={},changing:c,changed:l}){let p=[];$t(r,t);let d=Y(),u=i("div",{class:"tbviz-stage"}),m=i("div",{class:"tbviz-bar"}),y=i("div",{class:"tbviz-readout"}),j=i("div",{class:"tbviz-rest"}),$=i("p",{class:"tbviz-words","aria-live":"polite"}),w=i("p",{class:"tbviz-help",id:d},e.help),x=i("details",{class:"tbviz-drawer"},i("summary",{},"Settings and numbers"),j,w),D=i("style",{},Ot),B=i("div",{class:"tbviz",role:"group","aria-label":e.title,"aria-describedby":e.help?d:null},D,i("div",{class:"tbviz-head"},i("p",{class:"tbviz-finding"},e.finding),i("p",{class:"tbviz-invitation"},e.invitation)),u,m,y,$,x),F=({presets:a=[],...s})=>{let f=a.slice(St),h=[[u,[s.stage]],[m,[a.length>0&&J("Presets",a.slice(0,St)),s.bar]],[y,[s.readout]],[j,[f.length>0&&i("div",{},i("p",{class:"tbviz-title"},"Start from"),J("More presets",f)),s.drawer]]];for(let[N,_]of h)R(N,_.flat()),N.hidden=!N.childNodes.length};B.addEventListener("keydown",a=>a.stopPropagation());let g=a=>{for(let[s,f]of Object.entries(a))t.set(s,f);t.save_changes()},z=a=>{$.textContent!==a&&($.textContent=a),t.get("words")!==a&&g({words:a})},A=0,v=!1,S=(a,{ms:s=250,quiet:f=!1}={})=>{clearTimeout(A),v?f||(A=setTimeout(()=>z(a()),s)):z(a()),v=!0};p.push(()=>clearTimeout(A));let M=(a,s)=>{a.textContent!==s&&(a.textContent=s),a.hidden=!s},C=(a,s)=>{let f=()=>s(t.get(a));t.on(`change:${a}`,f),p.push(()=>t.off(`change:${a}`,f))},k=()=>Object.fromEntries(e.names.map(a=>[a,t.get(a)])),q=a=>{c?.(),g(a),l?.(a)},T=a=>q({...e.start,...n,...a}),U=a=>T(e.settingOf(a)),I={},W=(a=U,s=e.presets)=>{for(let[f,{label:h}]of Object.entries(s))I[f]=Q(h,()=>a(f));return Object.values(I)},nt=(a=[])=>{let s=[a].flat();for(let[f,h]of Object.entries(I))h.setAttribute("aria-pressed",String(s.includes(f)));return s.map(f=>e.presets[f].note).join(" ")},et=({choose:a=U,presets:s=e.presets,accepts:f=e.isSetting,start:h=T,get:N=()=>e.presetOf(k())??k()}={})=>{let _=b=>typeof b!="string"?f(b)&&h(b):Object.hasOwn(s,b)&&a(b),V=pt({key:dt(r,o,t.get("link")),el:r,get:N,put:_});return p.push(V.cleanup),V},ot=(a,s=e.names)=>{let f=!1,h=()=>{f||queueMicrotask(()=>{f=!1,a()}),f=!0};for(let N of s)C(N,h);return h},it=(a,s)=>{let f=a.clientWidth,h=new ResizeObserver(()=>{a.clientWidth&&a.clientWidth!==f&&(f=a.clientWidth,s())});h.observe(a),p.push(()=>h.disconnect())},rt=()=>{for(;p.length;)p.pop()();B.remove()};return r.append(B),{root:B,stage:u,words:$,help:w,lay:F,say:z,soon:S,tell:M,on:C,set:g,setting:k,put:q,start:T,chips:W,mark:nt,link:et,follow:ot,watch:it,defer:a=>p.push(a),cleanup:rt,css:a=>D.append(a)}}var G={title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token, then another head.",help:"Arrow keys move from head to head in the small maps, layers down and heads across, and from query to query in the text; a row of the large map is a query too. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{levels:ut}=G,L=255,Tt=t=>Array.from({length:t},(r,e)=>e),Kt=t=>t.reduce((r,e)=>r+e,0);function Ct(t,r,e){let o=Uint8Array.from(atob(t),l=>l.charCodeAt(0)),n=[],c=0;for(;c<o.length;)n.push(Tt(r).map(l=>{let p=e?l+1:r,d=[...o.subarray(c,c+p),...Array(r-p).fill(0)];return c+=p,d}));return n}function Z(t){let r=0;for(let e of t)e&&(r-=e/L*Math.log2(e/L));return r}function tt(t){let r=Tt(t.length).slice(1),e=o=>Kt(r.map(o));return{entropy:e(o=>Z(t[o]))/r.length,previous:e(o=>t[o][o-1])/(L*r.length),first:e(o=>t[o][0])/(L*r.length),itself:e(o=>t[o][o])/(L*r.length)}}function Lt(t,r){let e=t.map(tt).map(o=>r==="sharp"?-o.entropy:o[r==="broad"?"entropy":r]);return e.indexOf(Math.max(...e))}var Xt=t=>t?Math.max(1,Math.floor(ut*Math.sqrt(t/L)+.5)):0;function jt(t){let r={};return t.forEach((e,o)=>{var c;let n=e.map(Xt);for(let l=0,p=0;l<n.length;l=p){for(;p<n.length&&n[p]===n[l];)p+=1;n[l]&&(r[c=n[l]]??(r[c]=[])).push(`M${l} ${o}h${p-l}v1h-${p-l}z`)}}),Object.entries(r).map(([e,o])=>[Number(e),o.join("")])}function qt(t,{layers:r,heads:e,size:o}){if(!t||typeof t!="object")return!1;let n={layer:r,head:e,query:o};return Object.entries(t).every(([c,l])=>Object.hasOwn(n,c)&&Number.isInteger(l)&&l>=0&&l<n[c])}var Zt=5,O=t=>t.toFixed(2),P=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Nt(t,r,e,[o,n],{layer:c,head:l,query:p}){let d=r[c*n+l],u=d[p],m=tt(d),y=e?p+1:t.length,$=u.map((w,x)=>x).slice(0,y).sort((w,x)=>u[x]-u[w]||w-x).slice(0,Zt).filter(w=>u[w]).map(w=>`${O(u[w]/L)} to ${w} “${P(t[w])}”`);return`Attention of ${t.length} tokens, ${o} layer${o===1?"":"s"} of ${n} head${n===1?"":"s"}, ${e?"causal, so that no query attends to a later key":"not causal"}. Layer ${c}, head ${l}, query ${p} “${P(t[p])}”: weight ${$.join(", ")}; the row sums to ${O(u.reduce((w,x)=>w+x,0)/L)}, its entropy is ${O(Z(u))} of at most ${O(Math.log2(y))} bits. Means of this head over the queries from 1 on: entropy ${O(m.entropy)} bits, weight of the previous token ${O(m.previous)}, of the first ${O(m.first)}, of the query itself ${O(m.itself)}.`}function te(t){let r=[""];for(let e of t){let o=r.at(-1);o&&o.length+e.length+2>84?r.push(`${e},`):r[r.length-1]=o?`${o} ${e},`:`${e},`}return r.map(e=>`    ${e}`).join(`
`)}function Dt(t,r,[,e],{layer:o,head:n,query:c}){let l=t[o*e+n][c];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${l.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${o}, ${n}, ${c}
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
${te(l.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var ee=7.9,oe=9,mt=t=>jt(t).map(([r,e])=>E("path",{d:e,class:"at-cell","fill-opacity":r/ut}));function ht(t,r){let e=Y("at-hatch"),o=5*r;return[E("defs",{},E("pattern",{id:e,width:o,height:o,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},E("path",{d:`M0 0v${o}`,class:"at-line",style:{strokeWidth:.7*r}}))),E("path",{d:`M1 0${"v1h1".repeat(t-1)}V0z`,fill:`url(#${e})`})]}function Rt({tokens:t,causal:r,pick:e}){let o=t.length,n=E("svg",{class:"at-arcs","aria-hidden":"true"}),c=t.map(g=>i("span",{class:"at-token","aria-hidden":"true"},P(g))),l=i("div",{class:"at-text"},c),p=i("div",{class:"at-inner"},n,l),d=i("div",{class:"at-strip",role:"slider",tabindex:0,"aria-label":"Query","aria-valuemin":0,"aria-valuemax":o-1},p),u=t.map(()=>E("path",{class:"at-arc"})),m=E("path",{class:"at-drop"});R(n,u,m);let y={cancel(){}},j=null,[$,w]=[[],0],x=t.map(g=>Math.max(1,P(g).length)*ee+1);function D(){let g=d.clientWidth,z=x.reduce((S,M)=>S+M,0),A=Math.max(0,Math.min(12,(g-z)/o)),v=0;return $=x.map((S,M)=>(c[M].style.width=`${S+A}px`,v+=S+A,v-(S+A)/2)),p.style.width=`${v}px`,v}function B({at:g,weights:z}){let A=n.clientHeight||150,v=A-2,S=Math.max(...$.map(M=>Math.abs(M-g)),1);u.forEach((M,C)=>{let[k,q]=[$[C],z[C]/L],T=Math.abs(k-g),U=T<1?22:26+(A-42)*Math.sqrt(T/S);M.setAttribute("d",T<1?`M${g-7} ${v}C${g-16} ${v-1.4*U} ${g+16} ${v-1.4*U} ${g+7} ${v}`:`M${g} ${v}C${g} ${v-U} ${k} ${v-U} ${k} ${v}`),M.style.strokeWidth=`${Math.max(.4,oe*q).toFixed(2)}px`,M.style.opacity=q?Math.min(1,.25+1.2*q).toFixed(3):"0"}),m.setAttribute("d",`M${g-5} ${v}h10`),j={at:g,weights:z}}function F(g,z,A){y.cancel();let v=D();n.setAttribute("width",v),d.setAttribute("aria-valuenow",z),d.setAttribute("aria-valuetext",A),c.forEach((C,k)=>{C.classList.toggle("on",k===z),C.classList.toggle("off",r&&k>z)});let[S,M]=[j,{at:$[z],weights:g}];if(d.scrollWidth>d.clientWidth&&(d.scrollLeft=M.at-d.clientWidth/2),!S||v!==w)B(M);else{let C=(k,q,T)=>k+(q-k)*T*T*(3-2*T);y=lt({ms:360,step:k=>B({at:C(S.at,M.at,k),weights:g.map((q,T)=>C(S.weights[T],q,k))})})}w=v}return at(p,g=>e($.reduce((z,A,v)=>Math.abs(A-g)<Math.abs($[z]-g)?v:z,0))),{node:d,draw:F,stop:()=>y.cancel()}}function _t({tokens:t,causal:r,pick:e}){let o=t.length,n=E("svg",{class:"at-svg",role:"img",viewBox:`-0.1 -0.1 ${o+.2} ${o+.2}`});at(n,(u,m)=>e(Math.max(0,Math.min(o-1,Math.floor(m/n.clientHeight*o)))));let c=E("rect",{width:o,height:1,class:"at-row"}),l=E("g");R(n,r&&ht(o,o/110),l,E("rect",{width:o,height:o,class:"at-edge"}),c);let p="";function d(u,m,y){n.setAttribute("aria-label",`Weights of ${m}, queries down, keys across; the words below give the row of query ${y}`),c.style.transform=`translateY(${y}px)`,m!==p&&R(l,mt(u)),p=m}return{node:n,draw:d}}var Ht='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Ut=`
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
`;var It=["layer","head","query"],bt=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],gt=(t,r)=>Math.max(0,Math.min(r-1,t));function re({model:t,el:r}){let e=ft({model:t,el:r,contract:G,kind:"attention"});e.css(Ut);let[o,n,c,l]=["tokens","causal","layers","heads"].map(a=>t.get(a)),p=o.length,d=Ct(t.get("packed"),p,n),u=d.map(tt),m=()=>Object.fromEntries(It.map(a=>[a,t.get(a)])),y=()=>t.get("layer")*l+t.get("head"),j=a=>e.set({layer:Math.floor(a/l),head:a%l}),$=Object.fromEntries(Object.keys(G.presets).map(a=>[a,Lt(d,a)])),w=!1,x=a=>j($[a]),D=e.link({choose:x,start:e.set,accepts:a=>qt(a,{layers:c,heads:l,size:p}),get:m}),B=e.chips(x),F=i("p",{class:"at-note",role:"status"}),g=d.map((a,s)=>{let[f,h]=[Math.floor(s/l),s%l],N=bt.map(([_,V])=>`${V} ${O(u[s][_])}`).join("; ");return i("button",{type:"button",class:"at-head","aria-label":`layer ${f}, head ${h}; ${N}`,onclick:()=>j(s)},E("svg",{viewBox:`0 0 ${p} ${p}`,"aria-hidden":"true"},n&&ht(p,p/36),mt(a),E("rect",{width:p,height:p,class:"at-edge"})))}),z=i("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${l}, var(--at-thumb))`}},g);z.addEventListener("keydown",a=>{let{layer:s,head:f}=m(),h={ArrowRight:[s,f+1],ArrowLeft:[s,f-1],ArrowDown:[s+1,f],ArrowUp:[s-1,f],Home:[0,0],End:[c-1,l-1]}[a.key];h&&(a.preventDefault(),w=!0,e.set({layer:gt(h[0],c),head:gt(h[1],l)}),ot())});let A=a=>e.set({query:gt(a,p)}),v=Rt({tokens:o,causal:n,pick:A});e.defer(v.stop),v.node.addEventListener("keydown",a=>{let s=t.get("query"),f={ArrowRight:s+1,ArrowUp:s+1,ArrowLeft:s-1,ArrowDown:s-1,PageUp:s+8,PageDown:s-8,Home:0,End:p-1}[a.key];f!==void 0&&(a.preventDefault(),A(f))});let S=_t({tokens:o,causal:n,pick:A}),M=i("p",{class:"at-told"}),C=i("p",{class:"at-title"}),k=i("ol",{class:"at-weights"}),q=i("p",{class:"at-small"}),T=i("dl",{class:"at-lines"}),U=i("p",{class:"at-title"}),I=d.map((a,s)=>i("tr",{},i("th",{scope:"row"},`layer ${Math.floor(s/l)}, head ${s%l}`),bt.map(([f])=>i("td",{},O(u[s][f]))))),W=i("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},i("table",{class:"at-table"},i("thead",{},i("tr",{},i("th",{scope:"col"},"mean over queries"),bt.map(([,a])=>i("th",{scope:"col"},a)))),i("tbody",{},I)));function nt(a,s){let f=n?s+1:p,h=b=>n&&b>s?"–":a[b]?O(a[b]/L):"0",N=a.map((b,H)=>H).filter(b=>a[b]).sort((b,H)=>a[H]-a[b]||b-H),_=b=>`“${P(o[b])}”`,V=N.slice(0,3).map(b=>[_(b)," ",i("b",{},h(b))]);v.draw(a,s,`${s} ${_(s)}: ${N.slice(0,3).map(b=>`${h(b)} to ${b} ${_(b)}`).join(", ")}`),R(M,`Layer ${t.get("layer")}, head ${t.get("head")}: ${_(s)} looks at `,V.map((b,H)=>[H?", ":"",b]),N.length>3?" …":"."),C.textContent=`Query ${s} ${_(s)}: weight of each key`,R(k,o.map((b,H)=>i("li",{class:n&&H>s?"off":null},i("span",{},P(b)),i("small",{},h(H))))),q.textContent=`The row sums to ${O(a.reduce((b,H)=>b+H,0)/L)} over ${f} key${f===1?"":"s"}; entropy ${O(Z(a))} of at most ${O(Math.log2(f))} bits.${n?" – is masked: later than the query.":""}`}function et(){let a=m(),s=y();g.forEach((f,h)=>{f.setAttribute("aria-pressed",String(h===s)),f.tabIndex=h===s?0:-1}),e.tell(F,e.mark(Object.keys(G.presets).filter(f=>$[f]===s))),S.draw(d[s],`layer ${a.layer}, head ${a.head}`,a.query),nt(d[s][a.query],a.query),U.textContent="This head, mean over the queries from 1 on",R(T,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([f,h])=>[i("dt",{},h),i("dd",{},O(u[s][f])),i("dd",{class:"at-meter","aria-hidden":"true"},i("i",{style:{width:`${(100*u[s][f]).toFixed(1)}%`}}))]),i("dt",{},"entropy of a row"),i("dd",{},O(u[s].entropy)),i("dd",{style:{textAlign:"left"}},"bits")),I.forEach((f,h)=>f.classList.toggle("on",h===s)),(I[s].offsetTop<W.scrollTop||I[s].offsetTop+I[s].offsetHeight>W.scrollTop+W.clientHeight)&&(W.scrollTop=I[s].offsetTop-W.clientHeight/2),w&&z.querySelector("[aria-pressed='true']").focus(),w=!1,e.soon(()=>Nt(o,d,n,[c,l],a))}let ot=e.follow(et,It),it=i("div",{class:"at-scroll"},z);e.lay({stage:i("div",{class:"at",role:"figure","aria-label":"The text with its weights, and all heads"},v.node,i("div",{class:"at-pair"},it,S.node)),presets:B,readout:M,drawer:[F,i("div",{class:"at-bar"},K("Copy as PyTorch",()=>Dt(d,n,[c,l],m())),D),i("div",{class:"at-box"},C,k,q),i("div",{class:"at-all"},i("div",{class:"at-box"},U,T),i("div",{class:"at-box"},W))]}),et();let rt=new ResizeObserver(ot);return rt.observe(v.node),e.defer(()=>rt.disconnect()),e.cleanup}var co={render:re};export{co as default};
