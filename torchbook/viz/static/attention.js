var Wt="http://www.w3.org/2000/svg",Vt=Math.random().toString(36).slice(2,8),Yt=0,Y=(t="tb")=>`${t}-${Vt}-${Yt+=1}`,n=(t,a,...o)=>vt(document.createElement(t),a,o),S=(t,a,...o)=>vt(document.createElementNS(Wt,t),a,o);function vt(t,a,o){for(let[e,r]of Object.entries(a??{}))r===!1||r===null||r===void 0||(typeof r=="function"&&e.startsWith("on")?t.addEventListener(e.slice(2),r):e==="style"&&typeof r=="object"?Qt(t,r):t.setAttribute(e,r===!0?"":r));return t.append(...xt(o)),t}function Qt(t,a){for(let[o,e]of Object.entries(a))o.startsWith("--")?t.style.setProperty(o,e):t.style[o]=e}var xt=t=>t.flat(1/0).filter(a=>a!=null&&a!==!1&&a!=="");function _(t,...a){return t.replaceChildren(...xt(a)),t}function Q(t,a,o={}){let e=n("button",{type:"button",class:["tbviz-button",o.kind&&`tbviz-${o.kind}`].filter(Boolean).join(" "),title:o.title,"aria-label":o.name,onclick:r=>e.getAttribute("aria-disabled")!=="true"&&a(r)},t);return e.disable=r=>r?e.setAttribute("aria-disabled","true"):e.removeAttribute("aria-disabled"),e.disable(!!o.disabled),e}var wt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function G(t,a){let o=n("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":t},a),e=()=>[...o.querySelectorAll("button, a[href]")],r=s=>e().forEach(i=>i.tabIndex=i===s?0:-1);return o.addEventListener("focusin",s=>r(s.target.closest("button, a[href]"))),o.addEventListener("keydown",s=>{let i=e(),c=i.indexOf(s.target);if(c<0)return;let l=-1;s.key in wt?l=(c+wt[s.key]+i.length)%i.length:s.key==="Home"?l=0:s.key==="End"&&(l=i.length-1),!(l<0)&&(s.preventDefault(),i[l].focus())}),r(e()[0]),o.reset=()=>r(e().find(s=>s.tabIndex===0)??e()[0]),o}async function yt(t){try{return await navigator.clipboard.writeText(t),!0}catch{return Gt(t)}}function Gt(t){let a=document.activeElement,o=n("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});o.value=t,document.body.append(o),o.select();let e=!1;try{e=document.execCommand("copy")}catch{e=!1}return o.remove(),a?.focus?.(),e}function J(t,a,o={}){let e=n("span",{class:"tbviz-status",role:"status"}),r=0,s=c=>{clearTimeout(r),e.textContent=c,r=setTimeout(()=>e.textContent="",2500)},i=Q(t,async()=>{let c=a();s(await yt(c)?"Copied":`Copying is not allowed here. Copy this: ${c}`)},o);return n("span",{class:"tbviz-copy"},i,e)}var rt=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function nt({ms:t,step:a,done:o}){if(rt()||t<=0)return a(1),o?.(),{cancel(){}};let e=0,r,s=i=>{r??(r=i);let c=Math.min(1,(i-r)/t);a(c),c<1?e=requestAnimationFrame(s):o?.()};return e=requestAnimationFrame(s),{cancel:()=>cancelAnimationFrame(e)}}var Jt=t=>{let a=new TextEncoder().encode(JSON.stringify(t));return btoa(String.fromCharCode(...a)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},Kt=t=>{let a=atob(t.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(a,o=>o.charCodeAt(0))))},K=(t,a)=>typeof a=="string"&&/^[\w-]+$/.test(a)?`#tbviz-${t}:${a}`:`#tbviz-${t}=${Jt(a)}`;function zt(t,a){let o;try{o=decodeURIComponent(a)}catch{return}for(let[e,r]of[[":",s=>s],["=",Kt]]){let s=`#tbviz-${t}${e}`;if(o.startsWith(s))try{return r(o.slice(s.length))}catch{return}}}var it=t=>t.closest(".viz-mount");function st(t,a,o){let e=it(t);return o||!e?o||a:`${a}-${[...document.querySelectorAll(".viz-mount")].indexOf(e)+1}`}var kt=new WeakMap,$t=(t,a)=>kt.set(t,a);function lt({key:t,get:a,put:o,el:e,label:r="Copy link"}){let s=!!it(e),i=kt.get(e),c=b=>`${location.href.split("#")[0]}${K(t,b)}`,l=s?J(r,()=>c(a()),{title:"A link that opens this figure as it is now"}):n("span",{hidden:!0}),[u,m,y]=[void 0,"",0],C=()=>{let b=zt(t,location.hash);b===void 0&&!m||(o(b===void 0?u:b),clearTimeout(y),m=b===void 0?"":K(t,a()),b!==void 0&&e.scrollIntoView({block:e.clientHeight>innerHeight?"start":"nearest"}))},k=()=>{let b=a(),O=K(t,b);if(!(O===m||!m&&O===K(t,u))){if(typeof b=="string")history.pushState(null,"",O);else if(m)history.replaceState(null,"",O);else return;m=O}},x=()=>{clearTimeout(y),y=setTimeout(k,250)};return l.cleanup=()=>{clearTimeout(y),removeEventListener("hashchange",C),i?.off("change",x)},l.start=()=>{s&&(u=a(),addEventListener("hashchange",C),C(),i?.on("change",x))},queueMicrotask(l.start),l}function et(t,a,o){let e=!1,r=l=>o?l.target.closest(o):t,s=l=>getComputedStyle(l).touchAction==="none",i=(l,u)=>{let{left:m,top:y}=t.getBoundingClientRect();a(l.clientX-m,l.clientY-y,u)};t.addEventListener("pointerdown",l=>{let u=r(l);e=!!u&&l.pointerType==="touch"&&!s(u),!(!u||l.button||e)&&(t.setPointerCapture(l.pointerId),i(l,!0))}),t.addEventListener("pointermove",l=>t.hasPointerCapture(l.pointerId)&&i(l,!1)),t.addEventListener("click",l=>e&&i(l,!0));let c=l=>r(l)&&s(r(l))&&l.preventDefault();t.addEventListener("touchstart",c,{passive:!1})}var At=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Et=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Mt=(...t)=>t.map(a=>`${a} .tbviz`).join(","),St=`
.tbviz{${At}}
@media (prefers-color-scheme:dark){.tbviz{${Et}}}
${Mt("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${At}}
${Mt("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Et}}
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
@media (prefers-reduced-motion:no-preference){.tbviz-button{transition:background .12s,border-color .12s}}
.tbviz :is(sup,sub,small){font-size:max(12px,.8em)}
@container (max-width:560px){.tbviz-bar>.tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;max-width:100%;padding:4px;margin:-4px}.tbviz-bar .tbviz-button{flex:none}}
@media (max-width:480px){.tbviz{padding:.45rem .6rem;gap:.3rem;line-height:1.38}.tbviz-bar{gap:.35rem .5rem}.tbviz-finding{font-size:1rem;line-height:1.25}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
.tbviz-drawn{touch-action:pan-y pinch-zoom}
@media (pointer:coarse){.tbviz-cells :is([role=gridcell],.tbviz-small){pointer-events:none;cursor:inherit}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;var Tt=3;function ct({model:t,el:a,title:o,finding:e,invitation:r,describe:s}){let i=[];$t(a,t);let c=Y(),l=n("div",{class:"tbviz-stage"}),u=n("div",{class:"tbviz-bar"}),m=n("div",{class:"tbviz-readout"}),y=n("div",{class:"tbviz-rest"}),C=n("p",{class:"tbviz-words","aria-live":"polite"}),k=n("p",{class:"tbviz-help",id:c}),x=n("details",{class:"tbviz-drawer"},n("summary",{},"Settings and numbers"),y,k),b=n("style",{},St),O=n("div",{class:"tbviz",role:"group","aria-label":o,"aria-describedby":typeof s=="string"?c:null},b,n("div",{class:"tbviz-head"},n("p",{class:"tbviz-finding"},e),n("p",{class:"tbviz-invitation"},r)),l,u,m,C,x),U=({presets:f=[],...w})=>{let g=f.slice(Tt),q=[[l,[w.stage]],[u,[f.length>0&&G("Presets",f.slice(0,Tt)),w.bar]],[m,[w.readout]],[y,[g.length>0&&n("div",{},n("p",{class:"tbviz-title"},"Start from"),G("More presets",g)),w.drawer]]];for(let[$,N]of q)_($,N.flat()),$.hidden=!$.childNodes.length};typeof s=="string"?k.textContent=s:k.hidden=!0,O.addEventListener("keydown",f=>f.stopPropagation());let F=f=>{for(let[w,g]of Object.entries(f))t.set(w,g);t.save_changes()},h=f=>{C.textContent!==f&&(C.textContent=f),t.get("words")!==f&&F({words:f})},A=(f,w)=>{let g=()=>w(t.get(f));t.on(`change:${f}`,g),i.push(()=>t.off(`change:${f}`,g))},E=()=>{for(;i.length;)i.pop()();O.remove()};return a.append(O),typeof s=="function"&&h(s()),{root:O,stage:l,words:C,help:k,lay:U,say:h,on:A,set:F,defer:f=>i.push(f),cleanup:E,css:f=>b.append(f)}}var Ct={most_tokens:48,most_bytes:6e4,levels:8,presets:{previous:{label:"previous token",note:"Of all heads this one gives the token before the query the most weight; the number says how much. Near 1, each token reads what stood before it."},itself:{label:"itself",note:"Of all heads this one gives the query's own token the most weight."},first:{label:"first token",note:"Of all heads this one gives the first token the most weight. A softmax must give its weight somewhere; a head that has nothing to fetch often leaves it there."},sharp:{label:"lowest entropy",note:"Of all heads this one is the most decided: its rows are nearest to one key with all of the weight, which is 0 bits."},broad:{label:"highest entropy",note:"Of all heads this one spreads its weight the most. A row with equal weights over n keys has log2(n) bits, the most there can be."}}};var{presets:W,levels:dt}=Ct,L=255,Ot=t=>Array.from({length:t},(a,o)=>o),te=t=>t.reduce((a,o)=>a+o,0);function Lt(t,a,o){let e=Uint8Array.from(atob(t),i=>i.charCodeAt(0)),r=[],s=0;for(;s<e.length;)r.push(Ot(a).map(i=>{let c=o?i+1:a,l=[...e.subarray(s,s+c),...Array(a-c).fill(0)];return s+=c,l}));return r}function X(t){let a=0;for(let o of t)o&&(a-=o/L*Math.log2(o/L));return a}function Z(t){let a=Ot(t.length).slice(1),o=e=>te(a.map(e));return{entropy:o(e=>X(t[e]))/a.length,previous:o(e=>t[e][e-1])/(L*a.length),first:o(e=>t[e][0])/(L*a.length),itself:o(e=>t[e][e])/(L*a.length)}}function qt(t,a){let o=t.map(Z).map(e=>a==="sharp"?-e.entropy:e[a==="broad"?"entropy":a]);return o.indexOf(Math.max(...o))}var ee=t=>t?Math.max(1,Math.floor(dt*Math.sqrt(t/L)+.5)):0;function jt(t){let a={};return t.forEach((o,e)=>{var s;let r=o.map(ee);for(let i=0,c=0;i<r.length;i=c){for(;c<r.length&&r[c]===r[i];)c+=1;r[i]&&(a[s=r[i]]??(a[s]=[])).push(`M${i} ${e}h${c-i}v1h-${c-i}z`)}}),Object.entries(a).map(([o,e])=>[Number(o),e.join("")])}function Nt(t,{layers:a,heads:o,size:e}){if(!t||typeof t!="object")return!1;let r={layer:a,head:o,query:e};return Object.entries(t).every(([s,i])=>Object.hasOwn(r,s)&&Number.isInteger(i)&&i>=0&&i<r[s])}var oe=5,T=t=>t.toFixed(2),P=t=>t.replaceAll(" ","␣").replaceAll(`
`,"↵").replaceAll("	","⇥")||"∅";function Rt(t,a,o,[e,r],{layer:s,head:i,query:c}){let l=a[s*r+i],u=l[c],m=Z(l),y=o?c+1:t.length,k=u.map((x,b)=>b).slice(0,y).sort((x,b)=>u[b]-u[x]||x-b).slice(0,oe).filter(x=>u[x]).map(x=>`${T(u[x]/L)} to ${x} “${P(t[x])}”`);return`Attention of ${t.length} tokens, ${e} layer${e===1?"":"s"} of ${r} head${r===1?"":"s"}, ${o?"causal, so that no query attends to a later key":"not causal"}. Layer ${s}, head ${i}, query ${c} “${P(t[c])}”: weight ${k.join(", ")}; the row sums to ${T(u.reduce((x,b)=>x+b,0)/L)}, its entropy is ${T(X(u))} of at most ${T(Math.log2(y))} bits. Means of this head over the queries from 1 on: entropy ${T(m.entropy)} bits, weight of the previous token ${T(m.previous)}, of the first ${T(m.first)}, of the query itself ${T(m.itself)}.`}function ae(t){let a=[""];for(let o of t){let e=a.at(-1);e&&e.length+o.length+2>84?a.push(`${o},`):a[a.length-1]=e?`${e} ${o},`:`${o},`}return a.map(o=>`    ${o}`).join(`
`)}function Dt(t,a,[,o],{layer:e,head:r,query:s}){let i=t[e*o+r][s];return`import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${i.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${e}, ${r}, ${s}
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
${a?`scores[QUERY + 1 :] = float("-inf")  # later keys
`:""}row = scores.softmax(-1)
print(row)

# The figure keeps weights in 255ths.
shown = torch.tensor([
${ae(i.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`}var re=7.9,ne=9,pt=t=>jt(t).map(([a,o])=>S("path",{d:o,class:"at-cell","fill-opacity":a/dt}));function ft(t,a){let o=Y("at-hatch"),e=5*a;return[S("defs",{},S("pattern",{id:o,width:e,height:e,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},S("path",{d:`M0 0v${e}`,class:"at-line",style:{strokeWidth:.7*a}}))),S("path",{d:`M1 0${"v1h1".repeat(t-1)}V0z`,fill:`url(#${o})`})]}function _t({tokens:t,causal:a,pick:o}){let e=t.length,r=S("svg",{class:"at-arcs","aria-hidden":"true"}),s=t.map(h=>n("span",{class:"at-token","aria-hidden":"true"},P(h))),i=n("div",{class:"at-text"},s),c=n("div",{class:"at-inner"},r,i),l=n("div",{class:"at-strip",role:"slider",tabindex:0,"aria-label":"Query","aria-valuemin":0,"aria-valuemax":e-1},c),u=t.map(()=>S("path",{class:"at-arc"})),m=S("path",{class:"at-drop"});_(r,u,m);let y={cancel(){}},C=null,[k,x]=[[],0],b=t.map(h=>Math.max(1,P(h).length)*re+1);function O(){let h=l.clientWidth,A=b.reduce((w,g)=>w+g,0),E=Math.max(0,Math.min(12,(h-A)/e)),f=0;return k=b.map((w,g)=>(s[g].style.width=`${w+E}px`,f+=w+E,f-(w+E)/2)),c.style.width=`${f}px`,f}function U({at:h,weights:A}){let E=r.clientHeight||150,f=E-2,w=Math.max(...k.map(g=>Math.abs(g-h)),1);u.forEach((g,q)=>{let[$,N]=[k[q],A[q]/L],R=Math.abs($-h),H=R<1?22:26+(E-42)*Math.sqrt(R/w);g.setAttribute("d",R<1?`M${h-7} ${f}C${h-16} ${f-1.4*H} ${h+16} ${f-1.4*H} ${h+7} ${f}`:`M${h} ${f}C${h} ${f-H} ${$} ${f-H} ${$} ${f}`),g.style.strokeWidth=`${Math.max(.4,ne*N).toFixed(2)}px`,g.style.opacity=N?Math.min(1,.25+1.2*N).toFixed(3):"0"}),m.setAttribute("d",`M${h-5} ${f}h10`),C={at:h,weights:A}}function F(h,A,E){y.cancel();let f=O();r.setAttribute("width",f),l.setAttribute("aria-valuenow",A),l.setAttribute("aria-valuetext",E),s.forEach((q,$)=>{q.classList.toggle("on",$===A),q.classList.toggle("off",a&&$>A)});let[w,g]=[C,{at:k[A],weights:h}];if(l.scrollWidth>l.clientWidth&&(l.scrollLeft=g.at-l.clientWidth/2),!w||f!==x)U(g);else{let q=($,N,R)=>$+(N-$)*R*R*(3-2*R);y=nt({ms:360,step:$=>U({at:q(w.at,g.at,$),weights:h.map((N,R)=>q(w.weights[R],N,$))})})}x=f}return et(c,h=>o(k.reduce((A,E,f)=>Math.abs(E-h)<Math.abs(k[A]-h)?f:A,0))),{node:l,draw:F,stop:()=>y.cancel()}}function Ht({tokens:t,causal:a,pick:o}){let e=t.length,r=S("svg",{class:"at-svg",role:"img",viewBox:`-0.1 -0.1 ${e+.2} ${e+.2}`});et(r,(u,m)=>o(Math.max(0,Math.min(e-1,Math.floor(m/r.clientHeight*e)))));let s=S("rect",{width:e,height:1,class:"at-row"}),i=S("g");_(r,a&&ft(e,e/110),i,S("rect",{width:e,height:e,class:"at-edge"}),s);let c="";function l(u,m,y){r.setAttribute("aria-label",`Weights of ${m}, queries down, keys across; the words below give the row of query ${y}`),s.style.transform=`translateY(${y}px)`,m!==c&&_(i,pt(u)),c=m}return{node:r,draw:l}}var It='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Ut=`
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
.at-text{display:flex;white-space:pre;font:13px/1.6 ${It}}
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
.tbviz .at-weights{display:flex;flex-wrap:wrap;gap:.2rem;list-style:none;margin:0;padding:0;font:max(12px,.9em)/1.25 ${It}}
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
`;var ie="Arrow keys move from head to head in the small maps, layers down and heads across, and from query to query in the text; a row of the large map is a query too. Layers, heads and tokens count from 0, as in code. Weights are kept in 255ths, so that each row sums to exactly 1; the strength of the colour grows with the square root of the weight.",Bt=["layer","head","query"],ut=[["entropy","entropy, bits"],["previous","previous"],["first","first"],["itself","itself"]],mt=(t,a)=>Math.max(0,Math.min(a-1,t));function se({model:t,el:a}){let o=ct({model:t,el:a,title:"Attention explorer",finding:"Each head looks at other tokens",invitation:"Choose a token, then another head.",describe:ie});o.css(Ut);let[e,r,s,i]=["tokens","causal","layers","heads"].map(d=>t.get(d)),c=e.length,l=Lt(t.get("packed"),c,r),u=l.map(Z),m=()=>Object.fromEntries(Bt.map(d=>[d,t.get(d)])),y=()=>t.get("layer")*i+t.get("head"),C=d=>o.set({layer:Math.floor(d/i),head:d%i}),k=Object.fromEntries(Object.keys(W).map(d=>[d,qt(l,d)])),x=!1,b=lt({key:st(a,"attention",t.get("link")),el:a,get:m,put:d=>{typeof d=="string"?Object.hasOwn(W,d)&&C(k[d]):Nt(d,{layers:s,heads:i,size:c})&&o.set(d)}});o.defer(b.cleanup);let O=Object.entries(W).map(([d,p])=>Q(p.label,()=>{C(k[d])})),U=n("p",{class:"at-note",role:"status"}),F=l.map((d,p)=>{let[M,j]=[Math.floor(p/i),p%i],B=ut.map(([z,D])=>`${D} ${T(u[p][z])}`).join("; ");return n("button",{type:"button",class:"at-head","aria-label":`layer ${M}, head ${j}; ${B}`,onclick:()=>C(p)},S("svg",{viewBox:`0 0 ${c} ${c}`,"aria-hidden":"true"},r&&ft(c,c/36),pt(d),S("rect",{width:c,height:c,class:"at-edge"})))}),h=n("div",{class:"at-heads",role:"toolbar","aria-label":"Heads",style:{gridTemplateColumns:`repeat(${i}, var(--at-thumb))`}},F);h.addEventListener("keydown",d=>{let{layer:p,head:M}=m(),j={ArrowRight:[p,M+1],ArrowLeft:[p,M-1],ArrowDown:[p+1,M],ArrowUp:[p-1,M],Home:[0,0],End:[s-1,i-1]}[d.key];j&&(d.preventDefault(),x=!0,o.set({layer:mt(j[0],s),head:mt(j[1],i)}),at())});let A=d=>o.set({query:mt(d,c)}),E=_t({tokens:e,causal:r,pick:A});o.defer(E.stop),E.node.addEventListener("keydown",d=>{let p=t.get("query"),M={ArrowRight:p+1,ArrowUp:p+1,ArrowLeft:p-1,ArrowDown:p-1,PageUp:p+8,PageDown:p-8,Home:0,End:c-1}[d.key];M!==void 0&&(d.preventDefault(),A(M))});let f=Ht({tokens:e,causal:r,pick:A}),w=n("p",{class:"at-told"}),g=n("p",{class:"at-title"}),q=n("ol",{class:"at-weights"}),$=n("p",{class:"at-small"}),N=n("dl",{class:"at-lines"}),R=n("p",{class:"at-title"}),H=l.map((d,p)=>n("tr",{},n("th",{scope:"row"},`layer ${Math.floor(p/i)}, head ${p%i}`),ut.map(([M])=>n("td",{},T(u[p][M]))))),V=n("div",{class:"at-scroll at-tall",tabindex:0,role:"region","aria-label":"Numbers of all heads"},n("table",{class:"at-table"},n("thead",{},n("tr",{},n("th",{scope:"col"},"mean over queries"),ut.map(([,d])=>n("th",{scope:"col"},d)))),n("tbody",{},H)));function Pt(d,p){let M=r?p+1:c,j=v=>r&&v>p?"–":d[v]?T(d[v]/L):"0",B=d.map((v,I)=>I).filter(v=>d[v]).sort((v,I)=>d[I]-d[v]||v-I),z=v=>`“${P(e[v])}”`,D=B.slice(0,3).map(v=>[z(v)," ",n("b",{},j(v))]);E.draw(d,p,`${p} ${z(p)}: ${B.slice(0,3).map(v=>`${j(v)} to ${v} ${z(v)}`).join(", ")}`),_(w,`Layer ${t.get("layer")}, head ${t.get("head")}: ${z(p)} looks at `,D.map((v,I)=>[I?", ":"",v]),B.length>3?" …":"."),g.textContent=`Query ${p} ${z(p)}: weight of each key`,_(q,e.map((v,I)=>n("li",{class:r&&I>p?"off":null},n("span",{},P(v)),n("small",{},j(I))))),$.textContent=`The row sums to ${T(d.reduce((v,I)=>v+I,0)/L)} over ${M} key${M===1?"":"s"}; entropy ${T(X(d))} of at most ${T(Math.log2(M))} bits.${r?" – is masked: later than the query.":""}`}let tt=!1,ht=!0,ot=0;o.defer(()=>clearTimeout(ot));function bt(){tt=!1;let d=m(),p=y();F.forEach((z,D)=>{z.setAttribute("aria-pressed",String(D===p)),z.tabIndex=D===p?0:-1});let M=Object.keys(W).filter(z=>k[z]===p);Object.keys(W).forEach((z,D)=>O[D].setAttribute("aria-pressed",String(M.includes(z))));let j=M.map(z=>W[z].note).join(" ");U.textContent!==j&&(U.textContent=j),U.hidden=!j,f.draw(l[p],`layer ${d.layer}, head ${d.head}`,d.query),Pt(l[p][d.query],d.query),R.textContent="This head, mean over the queries from 1 on",_(N,[["previous","to the previous token"],["first","to the first token"],["itself","to itself"]].map(([z,D])=>[n("dt",{},D),n("dd",{},T(u[p][z])),n("dd",{class:"at-meter","aria-hidden":"true"},n("i",{style:{width:`${(100*u[p][z]).toFixed(1)}%`}}))]),n("dt",{},"entropy of a row"),n("dd",{},T(u[p].entropy)),n("dd",{style:{textAlign:"left"}},"bits")),H.forEach((z,D)=>z.classList.toggle("on",D===p)),(H[p].offsetTop<V.scrollTop||H[p].offsetTop+H[p].offsetHeight>V.scrollTop+V.clientHeight)&&(V.scrollTop=H[p].offsetTop-V.clientHeight/2),x&&h.querySelector("[aria-pressed='true']").focus(),x=!1,clearTimeout(ot);let B=()=>o.say(Rt(e,l,r,[s,i],d));ht?B():ot=setTimeout(B,250),ht=!1}let at=()=>{tt||queueMicrotask(()=>tt&&bt()),tt=!0};for(let d of Bt)o.on(d,at);let Ft=n("div",{class:"at-scroll"},h);o.lay({stage:n("div",{class:"at",role:"figure","aria-label":"The text with its weights, and all heads"},E.node,n("div",{class:"at-pair"},Ft,f.node)),presets:O,readout:w,drawer:[U,n("div",{class:"at-bar"},J("Copy as PyTorch",()=>Dt(l,r,[s,i],m())),b),n("div",{class:"at-box"},g,q,$),n("div",{class:"at-all"},n("div",{class:"at-box"},R,N),n("div",{class:"at-box"},V))]}),bt();let gt=new ResizeObserver(at);return gt.observe(E.node),o.defer(()=>gt.disconnect()),o.cleanup}var fo={render:se};export{fo as default};
