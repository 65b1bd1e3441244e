var st="http://www.w3.org/2000/svg",at=Math.random().toString(36).slice(2,8),ot=0,J=(e="tb")=>`${e}-${at}-${ot+=1}`,o=(e,t,...r)=>Ee(document.createElement(e),t,r),T=(e,t,...r)=>Ee(document.createElementNS(st,e),t,r);function Ee(e,t,r){for(let[n,i]of Object.entries(t??{}))i===!1||i===null||i===void 0||(typeof i=="function"&&n.startsWith("on")?e.addEventListener(n.slice(2),i):n==="style"&&typeof i=="object"?lt(e,i):e.setAttribute(n,i===!0?"":i));return e.append(...Oe(r)),e}function lt(e,t){for(let[r,n]of Object.entries(t))r.startsWith("--")?e.style.setProperty(r,n):e.style[r]=n}var Oe=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1&&t!=="");function I(e,...t){return e.replaceChildren(...Oe(t)),e}function P(e,t,r={}){let n=o("button",{type:"button",class:["tbviz-button",r.kind&&`tbviz-${r.kind}`].filter(Boolean).join(" "),title:r.title,"aria-label":r.name,onclick:i=>n.getAttribute("aria-disabled")!=="true"&&t(i)},e);return n.disable=i=>i?n.setAttribute("aria-disabled","true"):n.removeAttribute("aria-disabled"),n.disable(!!r.disabled),n}function ie({label:e,min:t,max:r,step:n=1,value:i,oninput:a,format:s=String,title:l}){let d=J(),p=o("output",{for:d}),c=o("input",{type:"range",id:d,oninput:()=>{b(),a(Number(c.value))}}),b=()=>{let f=s(Number(c.value));p.textContent=f,c.setAttribute("aria-valuetext",f)},m=o("div",{class:"tbviz-slider",title:l},o("label",{for:d},e),c,p);return m.input=c,m.update=f=>{for(let x of["min","max","step"])f[x]!==void 0&&(c[x]=f[x]);f.value!==void 0&&(c.value=f.value),c.disabled=Number(c.min)>=Number(c.max),b()},m.update({min:t,max:r,step:n,value:i}),m}var Te={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function F(e,t){let r=o("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":e},t),n=()=>[...r.querySelectorAll("button, a[href]")],i=a=>n().forEach(s=>s.tabIndex=s===a?0:-1);return r.addEventListener("focusin",a=>i(a.target.closest("button, a[href]"))),r.addEventListener("keydown",a=>{let s=n(),l=s.indexOf(a.target);if(l<0)return;let d=-1;a.key in Te?d=(l+Te[a.key]+s.length)%s.length:a.key==="Home"?d=0:a.key==="End"&&(d=s.length-1),!(d<0)&&(a.preventDefault(),s[d].focus())}),i(n()[0]),r.reset=()=>i(n().find(a=>a.tabIndex===0)??n()[0]),r}async function je(e){try{return await navigator.clipboard.writeText(e),!0}catch{return ct(e)}}function ct(e){let t=document.activeElement,r=o("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});r.value=e,document.body.append(r),r.select();let n=!1;try{n=document.execCommand("copy")}catch{n=!1}return r.remove(),t?.focus?.(),n}function Y(e,t,r={}){let n=o("span",{class:"tbviz-status",role:"status"}),i=0,a=l=>{clearTimeout(i),n.textContent=l,i=setTimeout(()=>n.textContent="",2500)},s=P(e,async()=>{let l=t();a(await je(l)?"Copied":`Copying is not allowed here. Copy this: ${l}`)},r);return o("span",{class:"tbviz-copy"},s,n)}var se=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function pe({ms:e,step:t,done:r}){if(se()||e<=0)return t(1),r?.(),{cancel(){}};let n=0,i,a=s=>{i??(i=s);let l=Math.min(1,(s-i)/e);t(l),l<1?n=requestAnimationFrame(a):r?.()};return n=requestAnimationFrame(a),{cancel:()=>cancelAnimationFrame(n)}}var dt=e=>{let t=new TextEncoder().encode(JSON.stringify(e));return btoa(String.fromCharCode(...t)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},ut=e=>{let t=atob(e.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(t,r=>r.charCodeAt(0))))},X=(e,t)=>typeof t=="string"&&/^[\w-]+$/.test(t)?`#tbviz-${e}:${t}`:`#tbviz-${e}=${dt(t)}`;function Ne(e,t){let r;try{r=decodeURIComponent(t)}catch{return}for(let[n,i]of[[":",a=>a],["=",ut]]){let a=`#tbviz-${e}${n}`;if(r.startsWith(a))try{return i(r.slice(a.length))}catch{return}}}var be=e=>e.closest(".viz-mount");function fe(e,t,r){let n=be(e);return r||!n?r||t:`${t}-${[...document.querySelectorAll(".viz-mount")].indexOf(n)+1}`}var Ce=new WeakMap,Pe=(e,t)=>Ce.set(e,t);function he({key:e,get:t,put:r,el:n,label:i="Copy link"}){let a=!!be(n),s=Ce.get(n),l=w=>`${location.href.split("#")[0]}${X(e,w)}`,d=a?Y(i,()=>l(t()),{title:"A link that opens this figure as it is now"}):o("span",{hidden:!0}),[p,c,b]=[void 0,"",0],m=()=>{let w=Ne(e,location.hash);w===void 0&&!c||(r(w===void 0?p:w),clearTimeout(b),c=w===void 0?"":X(e,t()),w!==void 0&&n.scrollIntoView({block:n.clientHeight>innerHeight?"start":"nearest"}))},f=()=>{let w=t(),A=X(e,w);if(!(A===c||!c&&A===X(e,p))){if(typeof w=="string")history.pushState(null,"",A);else if(c)history.replaceState(null,"",A);else return;c=A}},x=()=>{clearTimeout(b),b=setTimeout(f,250)};return d.cleanup=()=>{clearTimeout(b),removeEventListener("hashchange",m),s?.off("change",x)},d.start=()=>{a&&(p=t(),addEventListener("hashchange",m),m(),s?.on("change",x))},queueMicrotask(d.start),d}var Ie=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Le=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Be=(...e)=>e.map(t=>`${t} .tbviz`).join(","),Re=`
.tbviz{${Ie}}
@media (prefers-color-scheme:dark){.tbviz{${Le}}}
${Be("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${Ie}}
${Be("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Le}}
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
`;var Fe=3;function ge({model:e,el:t,title:r,finding:n,invitation:i,describe:a}){let s=[];Pe(t,e);let l=J(),d=o("div",{class:"tbviz-stage"}),p=o("div",{class:"tbviz-bar"}),c=o("div",{class:"tbviz-readout"}),b=o("div",{class:"tbviz-rest"}),m=o("p",{class:"tbviz-words","aria-live":"polite"}),f=o("p",{class:"tbviz-help",id:l}),x=o("details",{class:"tbviz-drawer"},o("summary",{},"Settings and numbers"),b,f),w=o("style",{},Re),A=o("div",{class:"tbviz",role:"group","aria-label":r,"aria-describedby":typeof a=="string"?l:null},w,o("div",{class:"tbviz-head"},o("p",{class:"tbviz-finding"},n),o("p",{class:"tbviz-invitation"},i)),d,p,c,m,x),D=({presets:h=[],...S})=>{let O=h.slice(Fe),W=[[d,[S.stage]],[p,[h.length>0&&F("Presets",h.slice(0,Fe)),S.bar]],[c,[S.readout]],[b,[O.length>0&&o("div",{},o("p",{class:"tbviz-title"},"Start from"),F("More presets",O)),S.drawer]]];for(let[N,te]of W)I(N,te.flat()),N.hidden=!N.childNodes.length};typeof a=="string"?f.textContent=a:f.hidden=!0,A.addEventListener("keydown",h=>h.stopPropagation());let k=h=>{for(let[S,O]of Object.entries(h))e.set(S,O);e.save_changes()},v=h=>{m.textContent!==h&&(m.textContent=h),e.get("words")!==h&&k({words:h})},j=(h,S)=>{let O=()=>S(e.get(h));e.on(`change:${h}`,O),s.push(()=>e.off(`change:${h}`,O))},E=()=>{for(;s.length;)s.pop()();A.remove()};return t.append(A),typeof a=="function"&&v(a()),{root:A,stage:d,words:m,help:f,lay:D,say:v,on:j,set:k,defer:h=>s.push(h),cleanup:E,css:h=>w.append(h)}}function ae(e,t=3){if(e===0)return"0";let r=e.toExponential(t-1),n=Number(r.slice(r.indexOf("e")+1));return n>=t?String(Math.round(e)):Number(r).toFixed(Math.max(0,t-1-n))}function K(e){let[t,r]=e.toExponential(5).split("e");return Number(r)<-3?`${Number(t)}e−${-Number(r)}`:String(Number(e.toPrecision(6)))}function _(e){return e>=1?`${ae(e)} s`:e>=.001?`${ae(e/.001)} ms`:e?`${ae(e/1e-6)} µs`:"0 ms"}var mt=[[1e12,"TB"],[1e9,"GB"],[1e6,"MB"],[1e3,"kB"],[0,"B"]];function M(e){let[t,r]=mt.find(([n])=>e>=n);return`${ae(t?e/t:e)} ${r}`}var Ke={fields:{ranks:{label:"ranks, K",value:4,low:2,high:16,whole:!0},elements:{label:"elements, n",value:8,low:1,high:48,whole:!0},size_mb:{label:"they stand for, N",value:100,low:.001,high:1e5,whole:!1},bandwidth_gbs:{label:"bandwidth, β",value:25,low:.01,high:1e3,whole:!1},latency_us:{label:"latency, α",value:10,low:0,high:1e4,whole:!1},seed:{label:"numbers, seed",value:0,low:0,high:999,whole:!0}},presets:{four:{label:"4 ranks",note:"Four ranks, four chunks. Three steps of reduce-scatter leave each rank with one finished chunk; three steps of all-gather hand the finished chunks around.",set:{}},two:{label:"2 ranks",note:"With two ranks the factor is 1: each sends half of its vector to be summed, and half of the result back.",set:{ranks:2}},sixteen:{label:"16 ranks",note:"Sixteen ranks send 30 messages each, but of a sixteenth of the vector: 1.875 vectors per link. The factor never reaches 2, however many ranks there are; the number of steps grows with them.",set:{ranks:16,elements:16}},uneven:{label:"10 elements, 4 ranks",note:"Four does not divide ten: the chunks have 3, 3, 2 and 2 elements. A step takes as long as its longest message, and the links carry 14 to 16 elements; the total is 2(K−1)·n all the same.",set:{elements:10}},few:{label:"3 elements, 5 ranks",note:"Fewer elements than ranks: two chunks are empty. Their messages carry nothing, but the ring still takes its 2(K−1) steps.",set:{ranks:5,elements:3}},small:{label:"small tensor",note:"A tensor of 64 kB on 16 ranks: nearly all of the time is latency, paid 2(K−1) times. A tree, with 2·log₂ K steps, is faster. This is why gradients travel in buckets.",set:{ranks:16,elements:16,size_mb:.064}},slow:{label:"slow network",note:"Ethernet of 10 Gbit/s, 1.25 GB/s: the latency is nothing beside the bytes, and gathering at one rank costs K times the ring.",set:{ranks:8,elements:8,bandwidth_gbs:1.25,latency_us:50,size_mb:1e3}}}};var{fields:H,presets:B}=Ke,G=Object.keys(H),oe=Object.fromEntries(G.map(e=>[e,H[e].value])),[Z,ve]=["reduce-scatter","all-gather"],q=e=>Array.from({length:e},(t,r)=>r),xe=(e,t)=>q(t).map(r=>Math.floor(e/t)+(r<e%t?1:0)),we=(e,t)=>xe(e,t).reduce((r,n)=>[...r,r.at(-1)+n],[0]);function qe(e,t,r){let n=(i,a)=>{let s=(r*7919+i*1047+a*131+17)%65536;for(let l=0;l<3;l+=1)s=(s*75+74)%65537;return 1+s%9};return q(e).map(i=>q(t).map(a=>n(i,a)))}function Q(e){let t=e.length,r=we(e[0].length,t),n=e.map(l=>[...l]),i=q(t).map(l=>q(t).map(()=>[l])),a=(l,d,p)=>({step:l,phase:d,messages:p,vectors:n.map(c=>[...c]),parts:i.map(c=>[...c])}),s=[a(0,"start",[])];for(let l=0;l<2*(t-1);l+=1){let d=l<t-1,p=q(t).map(c=>{let b=((c-l)%t+t)%t;return[{step:l+1,source:c,target:(c+1)%t,chunk:b,values:n[c].slice(r[b],r[b+1])},i[c][b]]});for(let[{chunk:c,target:b,values:m},f]of p)m.forEach((x,w)=>n[b][r[c]+w]=d?n[b][r[c]+w]+x:x),i[b][c]=d?[...f,...i[b][c]]:f;s.push(a(l+1,d?Z:ve,p.map(([c])=>c)))}return s}var ye=e=>Q(e).flatMap(t=>t.messages),De=(e,t)=>e.map((r,n)=>r+t[n]);function bt(e){let t=[],r=e[0];for(let n=1;n<e.length;n+=1)t.push({step:t.length+1,source:n,target:0,chunk:-1,values:e[n]}),r=De(r,e[n]);for(let n=1;n<e.length;n+=1)t.push({step:t.length+1,source:0,target:n,chunk:-1,values:r});return t}function ft(e){let t=e.length,r=[...e],n=[],[i,a]=[0,1];for(;a<t;a*=2){i+=1;for(let s=0;s<t-a;s+=2*a)n.push({step:i,source:s+a,target:s,chunk:-1,values:r[s+a]}),r[s]=De(r[s],r[s+a])}for(;a>1;){a/=2,i+=1;for(let s=0;s<t-a;s+=2*a)n.push({step:i,source:s,target:s+a,chunk:-1,values:r[s]}),r[s+a]=r[s]}return n}function U(e,t){let r=Array(t).fill(0);for(let n of e)r[n.source]+=n.values.length;return r}function ht(e,t){let r=Array(t).fill(0),n=Array(t).fill(0),i=new Map;for(let{step:s,source:l,target:d,values:p}of e)r[l]+=p.length,n[d]+=p.length,i.set(s,Math.max(i.get(s)??0,p.length));let a=s=>s.reduce((l,d)=>l+d,0);return{steps:i.size,total:a(r),busiest:Math.max(...r,...n),longest:a([...i.values()])}}var ee=e=>2*(e-1)/e;function le(e){let{ranks:t,elements:r}=e,n=q(t).map(()=>Array(r).fill(0)),i={ring:ye(n),gather:bt(n),tree:ft(n)},a=e.size_mb*1e6/r;return Object.fromEntries(Object.entries(i).map(([s,l])=>{let d=ht(l,t),p=d.steps*(e.latency_us*1e-6),c=d.longest*a/(e.bandwidth_gbs*1e9);return[s,{steps:d.steps,busiest:d.busiest*a,total:d.total*a,latency:p,bandwidth:c,seconds:p+c}]}))}function ke(e,t){let{low:r,high:n,whole:i}=H[e];return Number.isFinite(t)&&t>=r&&t<=n&&(!i||Number.isInteger(t))?"":`${i?"a whole number":"a number"} from ${r} to ${n}`}var gt=(e,t,r)=>Array.isArray(e)&&(e.length===0||e.length===t&&e.every(n=>Array.isArray(n)&&n.length===r&&n.every(Number.isSafeInteger)));function He(e){if(!e||typeof e!="object"||Array.isArray(e))return!1;let{ranks:t,elements:r}={...oe,...e};return Object.entries(e).every(([n,i])=>n==="values"?gt(i,t,r):n==="step"?Number.isInteger(i)&&i>=0&&i<=2*(t-1):Object.hasOwn(H,n)&&!ke(n,i))}var Ge=e=>Object.keys(B).find(t=>{let r={...oe,...B[t].set};return G.every(n=>r[n]===e[n])});var vt=e=>e.length>1?`${e.slice(0,-1).join(", ")} and ${e.at(-1)}`:e[0],Ue=e=>e===1?"":"s",xt=e=>e.reduce((t,r)=>t+r,0);function wt(e,t){let r=xe(e,t);if(r[0]===r.at(-1))return`${t} chunks of ${r[0]}`;let n=e%t;return`${n} chunk${Ue(n)} of ${r[0]} and ${t-n} of ${r.at(-1)}`}function yt(e,t){let r=e[t],n=e.length-1;if(!t)return"Nothing is sent yet: every chunk holds only its own rank's numbers.";let i=r.vectors.length,a=vt(r.messages.map(d=>`rank ${d.source} sends chunk ${d.chunk} to rank ${d.target}`)),s=r.parts[r.messages[0].target][r.messages[0].chunk].length,l=r.phase===Z?`The receiver adds it to its own; that chunk then holds the numbers of ${s} of ${i} ranks.`:"The receiver puts the finished chunk in the place of its own.";return`Step ${t} of ${n}, ${r.phase}: ${a}. ${l}${t===n?` All ranks hold the sum ${r.vectors[0].join(" ")}.`:""}`}var ce=e=>Math.min(...e)===Math.max(...e)?String(e[0]):`${Math.min(...e)} to ${Math.max(...e)}`;function We(e,t,r){let[n,i]=[t.length,t[0].length],a=Q(t),s=Math.min(r,a.length-1),l=U(a.slice(0,s+1).flatMap(m=>m.messages),n),d=xt(U(ye(t),n)),{ring:p,gather:c,tree:b}=le(e);return`Ring all-reduce, ${n} ranks, ${i} element${Ue(i)} each in ${wt(i,n)}. ${yt(a,s)} Each link has carried ${ce(l)} elements so far; at the end all links together ${d}, on average ${K(d/n)} each, ${K(d/n/i)} times a vector: 2(K−1)/K = ${K(ee(n))}. For ${M(e.size_mb*1e6)} at ${M(e.bandwidth_gbs*1e9)} a second and ${_(e.latency_us*1e-6)} a message the ring takes ${_(p.seconds)}, ${_(p.bandwidth)} for the bytes and ${_(p.latency)} for ${p.steps} latencies; gathering at one rank and sending back ${_(c.seconds)}, with ${M(c.busiest)} through the busiest link in place of ${M(p.busiest)}; a tree ${_(b.seconds)}.`}var Ve=(e,t)=>e.length===t?"all":e.length===1||t<=8&&e.length<=3?e.join("+"):`${e[0]}…${e.at(-1)}`,Je=e=>`"""torchrun --standalone --nproc-per-node ${e.length} ring.py"""

import torch
import torch.distributed as dist

VECTORS = [
${e.map(t=>`    [${t.join(", ")}],`).join(`
`)}
]


def ring_all_reduce(x):
    """Sum x over all ranks, in place; returns the number of elements this rank sent."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    chunks = x.tensor_split(ranks)  # views: what is written here is in x
    sent = 0
    for step in range(2 * (ranks - 1)):
        out, into = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        received = torch.empty_like(into)
        work = []
        if out.numel():
            work.append(dist.isend(out, right))
        if into.numel():
            work.append(dist.irecv(received, left))
        for one in work:
            one.wait()
        if step < ranks - 1:  # reduce-scatter
            into += received
        else:  # all-gather
            into.copy_(received)
        sent += out.numel()
    return sent


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = torch.tensor(VECTORS[rank])
    expected = x.clone()
    dist.all_reduce(expected)
    sent = torch.tensor(ring_all_reduce(x))
    assert torch.equal(x, expected)
    dist.all_reduce(sent)
    assert sent.item() == 2 * (ranks - 1) * x.numel()
    if rank == 0:
        print(x.tolist(), "elements sent per link, on average:", sent.item() / ranks)
    dist.destroy_process_group()
`;var ze=e=>Math.round(e*10)/10;function Ye(){let e=T("svg",{class:"ri-svg",role:"img"}),t={cancel(){}};function r(n,i,a){t.cancel();let s=n[i],l=s.vectors.length,d=290,[p,c,b]=[d/2,d/2-22,l>10?14:17],m=k=>2*Math.PI*k/l-Math.PI/2,f=(k,v=c)=>[ze(p+v*Math.cos(m(k))),ze(p+v*Math.sin(m(k)))],x=(b+4)/c/(2*Math.PI/l);for(let[k,v]of Object.entries({viewBox:`0 0 ${d} ${d}`,width:d,height:d}))e.setAttribute(k,v);e.setAttribute("aria-label",`Ring of ${l} ranks; the words below say which chunk is on each link`);let w=i?" on":"",A=s.vectors.map((k,v)=>{let[[j,E],[h,S]]=[f(v+x),f(v+1-x)],O=(m(v+1-x)+Math.PI/2)*180/Math.PI;return[T("path",{d:`M${j} ${E}A${c} ${c} 0 0 1 ${h} ${S}`,class:`ri-arc${w}`}),T("path",{d:"M-6 -4.5L3 0L-6 4.5Z",transform:`translate(${h} ${S}) rotate(${ze(O)})`,class:`ri-tip${w}`})]}),D=s.messages.map(({source:k,chunk:v})=>{let j=l>8?String(v):`chunk ${v}`,E=l>8?20:54,h=T("g",{class:`ri-parcel${s.phase===ve?" gather":""}`},T("rect",{x:-E/2,y:-8.5,width:E,height:17,rx:4}),T("text",{y:.5},j));return h.put=S=>h.setAttribute("transform",`translate(${f(k+x+S*(1-2*x),l>8?c-24:c-(l>4?22:0)).join(" ")})`),h.put(.5),h});I(e,A,s.vectors.map((k,v)=>{let[j,E]=f(v);return[T("circle",{cx:j,cy:E,r:b,class:"ri-node"}),T("text",{x:j,y:E},v)]}),D,T("text",{x:p,y:p-9,class:"ri-mid"},i?s.phase:"start"),T("text",{x:p,y:p+9,class:"ri-mid"},i?`step ${i} of ${n.length-1}`:`${n.length-1} steps ahead`)),a&&(t=pe({ms:420,step:k=>D.forEach(v=>v.put(.5*k))}))}return{node:e,draw:r,stop:()=>t.cancel()}}function Xe(){let e=o("div",{class:"ri-scroll",tabindex:0,role:"region","aria-label":"What the ranks, in rows, hold of the chunks, in columns"}),t=(i,a)=>o("span",{},o("i",{class:i}),a),r=o("div",{class:"ri-key"},t("","own numbers"),t("some","partial sum"),t("all","finished"),t("sent","sent in this step"),t("got","received in this step"));function n(i,a){let s=i[a],l=s.vectors.length,d=we(s.vectors[0].length,l),p=(c,b,m)=>s.messages.some(f=>f[c]===b&&f.chunk===m);I(e,o("table",{class:`ri-grid${l>8?" many":""}`},o("thead",{},o("tr",{},o("td",{class:"ri-corner"}),d.slice(1).map((c,b)=>o("th",{scope:"col"},l>6?b:[o("span",{class:"ri-long"},"chunk "),b])))),o("tbody",{},s.vectors.map((c,b)=>o("tr",{},o("th",{scope:"row"},o("span",{class:"ri-long"},"rank "),b),s.parts[b].map((m,f)=>{let x=[m.length===l?"all":m.length>1&&"some",p("target",b,f)&&"got",p("source",b,f)&&"sent"];return o("td",{class:x.filter(Boolean).join(" ")||null,title:`ranks ${m.join(", ")}`},o("span",{class:"ri-nums"},c.slice(d[f],d[f+1]).join(" ")||"–"),o("span",{class:"ri-who"},Ve(m,l)))}))))))}return{node:o("div",{class:"ri"},e,r),draw:n}}var Ze='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Qe=`
.ri{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .ri-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .ri-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.ri-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.ri-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .ri-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.ri-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.ri-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 5rem}
.ri-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.ri-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.ri-player{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}
.ri-player .tbviz-slider{flex:1 1 11rem;grid-template-columns:auto minmax(4rem,1fr) 4.6rem}
.ri-player output{white-space:nowrap}
.ri-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .ri-head{font-weight:600}
.ri-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:720px){.ri-main.narrow{grid-template-columns:minmax(0,290px) minmax(0,1fr)}.ri-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)!important}}
.ri-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
.tbviz .ri-svg{display:block;max-width:100%;height:auto;margin:0 auto}
.ri-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg);text-anchor:middle;dominant-baseline:central}
.ri-node{fill:var(--tb-fill);stroke:var(--tb-edge);stroke-width:1.2}
.ri-arc{fill:none;stroke:var(--tb-line);stroke-width:1.6}
.ri-arc.on{stroke:var(--tb-accent);stroke-width:2}
.ri-tip{fill:var(--tb-line)}
.ri-tip.on{fill:var(--tb-accent)}
.ri-parcel rect{fill:var(--tb-bg);stroke:var(--tb-accent);stroke-width:1.4}
.ri-parcel.gather rect{stroke-dasharray:3 2}
.ri-svg .ri-parcel text{font-size:12px;font-weight:650}
.ri-svg .ri-mid{font-size:12.5px;fill:var(--tb-muted)}
.ri-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .ri-grid{border-collapse:separate;border-spacing:3px;margin:0;width:100%;font-size:max(12px,.9em);font-variant-numeric:tabular-nums;display:table;background:none;color:var(--tb-fg)}
.tbviz .ri-grid tr{background:none;border:0}
.tbviz .ri-grid :is(td,th){border:1px solid transparent;padding:.15rem .3rem;text-align:center;background:none;color:inherit;font-weight:400;white-space:nowrap}
.tbviz .ri-grid th{color:var(--tb-muted);font-size:max(12px,.92em)}
.tbviz .ri-grid td{border-color:var(--tb-line);border-radius:5px}
.tbviz .ri-grid td.some{background:var(--tb-accent-soft)}
.tbviz .ri-grid td.all{background:var(--tb-good-soft)}
.tbviz .ri-grid td.got{outline:2.5px solid var(--tb-fg);outline-offset:-1px}
.tbviz .ri-grid td.sent{border:1.5px dashed var(--tb-edge)}
.tbviz .ri-grid .ri-corner{border:0}
@container (max-width:460px){.ri-long{display:none}}
.ri-nums{display:block;font:max(12px,.95em) ${Ze}}
.ri-who{display:block;font-size:max(12px,.84em)}
.ri-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.ri-key i{display:inline-block;width:1.3em;height:.95em;border:1px solid var(--tb-line);border-radius:3px;vertical-align:-.1em;margin-right:.35rem}
.ri-key i.some{background:var(--tb-accent-soft)}
.ri-key i.all{background:var(--tb-good-soft)}
.ri-key i.got{outline:2px solid var(--tb-fg);outline-offset:-1px}
.ri-key i.sent{border:1.5px dashed var(--tb-edge)}
.ri-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:max(12px,.9em)}
.ri-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden;display:flex}
.ri-track>i{display:block;height:100%;background:var(--tb-accent)}
.ri-track>i.late{background:repeating-linear-gradient(135deg,var(--tb-warm) 0 2px,var(--tb-warm-soft) 2px 5px)}
.ri-value{font-variant-numeric:tabular-nums;text-align:right}
.tbviz .ri-grid.many{border-spacing:1.5px;font-size:max(12px,.82em)}
.tbviz .ri-grid.many :is(td,th){padding:0 .1rem;line-height:1.2}
.many .ri-who{display:none}
.ri-links{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.4rem,1fr));gap:.2rem .9rem;font-size:max(12px,.88em);font-variant-numeric:tabular-nums}
.ri-links span{display:flex;white-space:nowrap;justify-content:space-between;gap:.4rem;border-bottom:1px solid var(--tb-line)}
.tbviz .ri-formula{font-family:${Ze};font-size:max(12px,.88em);overflow-wrap:anywhere}
.tbviz .ri-costs{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .ri-costs tr{background:none;border:0}
.tbviz .ri-costs :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.2rem .35rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .ri-costs :is(td,th):first-child{text-align:left;padding-left:0}
.ri-costs td{white-space:nowrap}
.tbviz .ri-costs thead th{color:var(--tb-muted);font-size:max(12px,.94em)}
`;var kt="Step with the buttons, or with the arrow keys on the slider. Small text in a cell says whose numbers are summed there: 3+0 is ranks 3 and 0, 3…1 is 3, 0 and 1 around the ring.",tt={size_mb:e=>M(e*1e6),bandwidth_gbs:e=>`${M(e*1e9)}/s`,latency_us:e=>_(e*1e-6)},et=e=>e.reduce((t,r)=>t+r,0);function zt(e,t,r){let{label:n,low:i,high:a,whole:s}=H[e],l=i||.1,d=m=>m<l?0:1+Math.round(119*Math.log(m/l)/Math.log(a/l)),p=m=>m===0?i:Number((l*(a/l)**((m-1)/119)).toPrecision(2)),c,b=ie({label:n,min:s?i:i?1:0,max:s?a:120,value:0,format:m=>s?String(m):tt[e](c??p(m)),oninput:m=>r({[e]:s?m:p(m)})});return b.refresh=()=>{c=t.get(e),b.update({value:s?c:d(c)})},b.input.addEventListener("input",()=>c=void 0,{capture:!0}),b}function $t({model:e,el:t}){let r=ge({model:e,el:t,title:"Ring all-reduce",finding:"In a ring, a worker sends less than twice its data",invitation:"Press Play.",describe:kt});r.css(Qe);let n=()=>Object.fromEntries(G.map(u=>[u,e.get(u)])),i=()=>{let{ranks:u,elements:g,seed:C}=n(),z=e.get("values");return z?.length===u&&z[0].length===g?z:qe(u,g,C)},a=()=>2*(e.get("ranks")-1),s=()=>Math.min(e.get("step"),a()),l=0,d=()=>l!==0,p=()=>{clearInterval(l),l=0,W.textContent="Play"},c=u=>{p(),r.set(u)},b=u=>c("ranks"in u||"elements"in u||"seed"in u?{values:[],step:0,...u}:u),m=u=>c({step:Math.max(0,Math.min(a(),u))}),f=u=>c({...oe,values:[],step:0,...u}),x=he({key:fe(t,"ring",e.get("link")),el:t,get:()=>({...n(),step:s(),...e.get("values")?.length?{values:e.get("values")}:{}}),put:u=>{typeof u=="string"?Object.hasOwn(B,u)&&f(B[u].set):He(u)&&f(u)}});r.defer(x.cleanup);let w=Object.entries(B).map(([u,g])=>P(g.label,()=>{f(g.set)})),A=Object.fromEntries(G.filter(u=>u!=="seed").map(u=>[u,zt(u,e,b)])),D=P("Other numbers",()=>b({seed:ke("seed",e.get("seed")+1)?0:e.get("seed")+1})),k=o("p",{class:"ri-note",role:"status"}),v=Ye(),j=Xe(),E=o("div",{class:"ri-main"},v.node,j.node),h=o("div",{class:"ri-box"}),S=o("div",{class:"ri-box"});r.defer(v.stop);let O=()=>{p(),e.save_changes(),Me()},W=P("Play",()=>{if(d())return O();s()>=a()&&e.set("step",0),l=setInterval(()=>{let u=s()+1;e.set("step",u),u>=a()&&O()},se()?1800:1100),W.textContent="Pause"},{kind:"primary"});r.defer(()=>clearInterval(l));let N=()=>e.get("ranks")-1,te=[P("|◂",()=>m(s()>N()?N():0),{name:"Phase before",title:"Phase before"}),P("◂",()=>m(s()-1),{name:"One step back",title:"One step back"}),P("▸",()=>m(s()+1),{name:"One step on",title:"One step on"}),P("▸|",()=>m(s()<N()?N():a()),{name:"Next phase",title:"Next phase"})],$e=ie({label:"step",min:0,max:1,value:0,format:u=>`${u} of ${a()}`,oninput:m}),rt=o("div",{class:"ri-player"},F("Steps",[W,...te]),$e),Se=o("p",{class:"ri-head"});function nt(u,g,C){let{ranks:z,elements:R}=u,L=u.size_mb*1e6/R,y=U(g.slice(0,C+1).flatMap(V=>V.messages),z),$=U(g.flatMap(V=>V.messages),z),ne=et($);I(h,o("p",{class:"ri-title"},"Counted: elements on each link so far, of all"),o("div",{class:"ri-links"},y.map((V,me)=>o("span",{},o("span",{},`${me} → ${(me+1)%z}`),o("b",{},`${V} of ${$[me]}`)))),o("p",{class:"ri-small"},`One element stands for ${M(L)}: so far ${ce(y)} of them, ${M(Math.max(...y)*L)}, on ${ce(y).includes("to")?"the busiest link":"each link"}; ${M(et(y)*L)} on all.`),o("p",{class:"ri-formula"},`counted: ${ne} ÷ ${z} links ÷ ${R} elements = ${K(ne/z/R)}`),o("p",{class:"ri-formula"},`formula: 2(K−1)/K = 2·${z-1}/${z} = ${K(ee(z))}`))}function it(u){let g=le(u),C=Math.max(...Object.values(g).map(y=>y.seconds)),z={ring:"ring",gather:"gather, send back",tree:"tree"},{ring:R}=g,L=(y,$)=>o("i",{class:y,style:{width:`${(100*$).toFixed(1)}%`}});I(S,o("p",{class:"ri-title"},`Time for ${tt.size_mb(u.size_mb)}: bytes (solid) and latency (hatched)`),o("div",{class:"ri-bars"},Object.entries(g).map(([y,$])=>[o("span",{},z[y]),o("span",{class:"ri-track","aria-hidden":"true"},L("",$.bandwidth/C),L("late",$.latency/C)),o("span",{class:"ri-value"},_($.seconds))])),o("table",{class:"ri-costs"},o("thead",{},o("tr",{},["way","steps","busiest link","latency","for bytes"].map(y=>o("th",{scope:"col"},y)))),o("tbody",{},Object.entries(g).map(([y,$])=>o("tr",{},o("th",{scope:"row"},z[y]),[$.steps,M($.busiest),_($.latency),_($.bandwidth)].map(ne=>o("td",{},ne)))))),o("p",{class:"ri-formula"},`ring: 2(K−1)·α + 2(K−1)/K·N/β = ${_(R.latency)} + ${_(ee(u.ranks)*u.size_mb*1e6/(u.bandwidth_gbs*1e9))}`),o("p",{class:"ri-small"},`The bytes in all messages are the same three times, ${M(R.total)}; only the ring spreads them evenly. A rank has one link, with this bandwidth in each direction.${u.elements%u.ranks?" The chunks are uneven: a step waits for its longest message.":""}`))}let re=!1,de=!0,Ae=0,ue=0;r.defer(()=>clearTimeout(ue));function _e(){re=!1;let u=n(),g=s(),C=Q(i());Object.values(A).forEach(y=>y.refresh());let z=e.get("values")?.length?void 0:Ge(u);Object.keys(B).forEach((y,$)=>w[$].setAttribute("aria-pressed",String(y===z))),k.textContent!==(B[z]?.note??"")&&(k.textContent=B[z]?.note??""),k.hidden=!z,$e.update({max:a(),value:g}),te.forEach((y,$)=>y.disable($<2?g===0:g>=a()));let R=C[g];Se.textContent=g===0?"Start: each rank holds its own numbers":R.phase===Z?`Reduce-scatter, step ${g} of ${N()}: send one chunk, add what comes`:`All-gather, step ${g-N()} of ${N()}: send one chunk, store what comes`,E.classList.toggle("narrow",u.ranks<=6&&u.elements<=24),v.draw(C,g,!de&&g===Ae+1),j.draw(C,g),nt(u,C,g),it(u),Ae=g,clearTimeout(ue);let L=()=>r.say(We(u,i(),g));de?L():d()||(ue=setTimeout(L,250)),de=!1}let Me=()=>{re||queueMicrotask(()=>re&&_e()),re=!0};for(let u of[...G,"values","step"])r.on(u,Me);return r.lay({stage:E,bar:rt,readout:Se,drawer:[k,o("div",{class:"ri-chips"},o("p",{class:"ri-title"},"Start from"),F("Presets",w)),o("div",{class:"ri-sliders"},Object.values(A)),o("div",{class:"ri-bar"},D,Y("Copy as PyTorch",()=>Je(i())),x),o("div",{class:"ri-pair"},h,S)]}),_e(),r.cleanup}var hr={render:$t};export{hr as default};
