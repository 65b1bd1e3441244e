var Jt="http://www.w3.org/2000/svg",Xt=Math.random().toString(36).slice(2,8),Zt=0,Z=(e="tb")=>`${e}-${Xt}-${Zt+=1}`,n=(e,t,...o)=>ct(document.createElement(e),t,o),B=(e,t,...o)=>ct(document.createElementNS(Jt,e),t,o);function ct(e,t,o){for(let[a,s]of Object.entries(t??{}))s===!1||s===null||s===void 0||(typeof s=="function"&&a.startsWith("on")?e.addEventListener(a.slice(2),s):a==="style"&&typeof s=="object"?eo(e,s):e.setAttribute(a,s===!0?"":s));return e.append(...dt(o)),e}function eo(e,t){for(let[o,a]of Object.entries(t))o.startsWith("--")?e.style.setProperty(o,a):e.style[o]=a}var dt=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1&&t!=="");function I(e,...t){return e.replaceChildren(...dt(t)),e}function F(e,t,o={}){let a=n("button",{type:"button",class:["tbviz-button",o.kind&&`tbviz-${o.kind}`].filter(Boolean).join(" "),title:o.title,"aria-label":o.name,onclick:s=>a.getAttribute("aria-disabled")!=="true"&&t(s)},e);return a.disable=s=>s?a.setAttribute("aria-disabled","true"):a.removeAttribute("aria-disabled"),a.disable(!!o.disabled),a}function xe({label:e,min:t,max:o,step:a=1,value:s,oninput:i,format:d=String,title:p}){let u=Z(),m=n("output",{for:u}),c=n("input",{type:"range",id:u,oninput:()=>{h(),i(Number(c.value))}}),h=()=>{let v=d(Number(c.value));m.textContent=v,c.setAttribute("aria-valuetext",v)},b=n("div",{class:"tbviz-slider",title:p},n("label",{for:u},e),c,m);return b.input=c,b.update=v=>{for(let x of["min","max","step"])v[x]!==void 0&&(c[x]=v[x]);v.value!==void 0&&(c.value=v.value),c.disabled=Number(c.min)>=Number(c.max),h()},b.update({min:t,max:o,step:a,value:s}),b}function ie({label:e,options:t,value:o,onchange:a,title:s}){let i=Z(),d=n("select",{id:i,onchange:()=>a(d.value)}),p=n("div",{class:"tbviz-field",title:s},n("label",{for:i},e),d);return p.input=d,p.update=u=>{if(u.options){let m=u.options.map(c=>typeof c=="object"?c:{label:String(c),value:String(c)});I(d,m.map(c=>n("option",{value:c.value},c.label)))}u.value!==void 0&&(d.value=String(u.value))},p.update({options:t,value:o}),p}function Ne({label:e,value:t,min:o,max:a,placeholder:s,oninput:i,onenter:d,step:p=1,title:u}){let m=Z(),c=n("input",{type:"number",id:m,min:o,max:a,step:p,placeholder:s,inputmode:"numeric",oninput:()=>i(c.value.trim()===""?null:Number(c.value)),onkeydown:b=>b.key==="Enter"&&d?.()}),h=n("div",{class:"tbviz-field",title:u},n("label",{for:m},e),c);return h.input=c,h.update=b=>{for(let v of["min","max"])b[v]!==void 0&&(c[v]=b[v]);b.value!==void 0&&c.value!==String(b.value??"")&&(c.value=b.value??"")},h.update({value:t}),h}var pt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function le(e,t){let o=n("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":e},t),a=()=>[...o.querySelectorAll("button, a[href]")],s=i=>a().forEach(d=>d.tabIndex=d===i?0:-1);return o.addEventListener("focusin",i=>s(i.target.closest("button, a[href]"))),o.addEventListener("keydown",i=>{let d=a(),p=d.indexOf(i.target);if(p<0)return;let u=-1;i.key in pt?u=(p+pt[i.key]+d.length)%d.length:i.key==="Home"?u=0:i.key==="End"&&(u=d.length-1),!(u<0)&&(i.preventDefault(),d[u].focus())}),s(a()[0]),o.reset=()=>s(a().find(i=>i.tabIndex===0)??a()[0]),o}async function ht(e){try{return await navigator.clipboard.writeText(e),!0}catch{return to(e)}}function to(e){let t=document.activeElement,o=n("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});o.value=e,document.body.append(o),o.select();let a=!1;try{a=document.execCommand("copy")}catch{a=!1}return o.remove(),t?.focus?.(),a}function ce(e,t,o={}){let a=n("span",{class:"tbviz-status",role:"status"}),s=0,i=p=>{clearTimeout(s),a.textContent=p,s=setTimeout(()=>a.textContent="",2500)},d=F(e,async()=>{let p=t();i(await ht(p)?"Copied":`Copying is not allowed here. Copy this: ${p}`)},o);return n("span",{class:"tbviz-copy"},d,a)}var je=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;var oo=e=>{let t=new TextEncoder().encode(JSON.stringify(e));return btoa(String.fromCharCode(...t)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},ao=e=>{let t=atob(e.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(t,o=>o.charCodeAt(0))))},We=(e,t)=>typeof t=="string"&&/^[\w-]+$/.test(t)?`#tbviz-${e}:${t}`:`#tbviz-${e}=${oo(t)}`;function mt(e,t){let o;try{o=decodeURIComponent(t)}catch{return}for(let[a,s]of[[":",i=>i],["=",ao]]){let i=`#tbviz-${e}${a}`;if(o.startsWith(i))try{return s(o.slice(i.length))}catch{return}}}var Ge=e=>e.closest(".viz-mount");function Re(e,t,o){let a=Ge(e);return o||!a?o||t:`${t}-${[...document.querySelectorAll(".viz-mount")].indexOf(a)+1}`}function Ve({key:e,get:t,put:o,el:a,label:s="Copy link"}){let i=!!Ge(a),d=c=>`${location.href.split("#")[0]}${We(e,c)}`,p=i?ce(s,()=>d(t()),{title:"A link that opens this figure as it is now"}):n("span",{hidden:!0}),u=c=>{let h=mt(e,location.hash);h!==void 0&&(o(h),c&&a.scrollIntoView({block:"nearest"}))},m=()=>u(!0);return p.href=c=>i?We(e,c):"",p.cleanup=()=>removeEventListener("hashchange",m),p.start=()=>{i&&(addEventListener("hashchange",m),u(!0))},queueMicrotask(p.start),p}var ut=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,ft=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,bt=(...e)=>e.map(t=>`${t} .tbviz`).join(","),vt=`
.tbviz{${ut}}
@media (prefers-color-scheme:dark){.tbviz{${ft}}}
${bt("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${ut}}
${bt("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${ft}}
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
`;function Fe({model:e,el:t,title:o,describe:a}){let s=[],i=Z(),d=n("div",{class:"tbviz-controls"}),p=n("div",{class:"tbviz-stage"}),u=n("p",{class:"tbviz-words","aria-live":"polite"}),m=n("p",{class:"tbviz-help",id:i}),c=n("style",{},vt),h=n("div",{class:"tbviz",role:"group","aria-label":o,"aria-describedby":typeof a=="string"?i:null},c,d,p,u,m);typeof a=="string"?m.textContent=a:m.hidden=!0,h.addEventListener("keydown",y=>y.stopPropagation());let b=y=>{for(let[O,L]of Object.entries(y))e.set(O,L);e.save_changes()},v=y=>{u.textContent!==y&&(u.textContent=y),e.get("words")!==y&&b({words:y})},x=(y,O)=>{let L=()=>O(e.get(y));e.on(`change:${y}`,L),s.push(()=>e.off(`change:${y}`,L))},f=()=>{for(;s.length;)s.pop()();h.remove()};return t.append(h),typeof a=="function"&&v(a()),{root:h,stage:p,controls:d,help:m,say:v,on:x,set:b,defer:y=>s.push(y),cleanup:f,css:y=>c.append(y)}}function K(e,t=3){if(e===0)return"0";let o=e.toExponential(t-1),a=Number(o.slice(o.indexOf("e")+1));return a>=t?String(Math.round(e)):Number(o).toFixed(Math.max(0,t-1-a))}var ro=[[1e12," trillion"],[1e9," billion"],[1e6," million"]];function _e(e){let[t,o]=ro.find(([a])=>e>=a)??[1,""];return o?`${Number((e/t).toPrecision(6))}${o}`:String(e)}var so=[[1e12,"TB"],[1e9,"GB"],[1e6,"MB"],[1e3,"kB"],[0,"B"]];function A(e){let[t,o]=so.find(([a])=>e>=a);return`${K(t?e/t:e)} ${o}`}var ae={fields:{layers:{label:"layers",value:4,low:1,high:128},heads:{label:"query heads",value:4,low:1,high:128},kv_heads:{label:"KV heads",value:4,low:1,high:128},head_dim:{label:"head_dim",value:32,low:1,high:256},hidden:{label:"hidden",value:512,low:1,high:131072},vocab:{label:"vocabulary",value:65,low:1,high:3e5},context:{label:"learned positions",value:128,low:0,high:1e6},new_tokens:{label:"new tokens",value:8,low:1,high:16},length:{label:"tokens of a sequence",value:128,low:1,high:1e6},page:{label:"positions in a page",value:4,low:1,high:16},capacity:{label:"pages",value:12,low:1,high:48},reserve:{label:"reserved for each",value:16,low:1,high:32}},prompt:["A","cache","keeps","what","was","computed"],more:["once","and","is","read","again","at","every","later","step","here"],longest:16,requests:[[5,6],[3,8],[7,4],[2,7],[6,3],[4,5],[8,4],[3,6]],most:8,bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (fp8)"},weight_bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (int8, fp8)","0.5":"½ (4 bits)"},views:{steps:"Step by step",memory:"Memory",pages:"Pages"},models:{small:{label:"Small GPT",family:"gpt",layers:4,heads:4,kv_heads:4,head_dim:32,hidden:512,vocab:65,context:128,tied:!0},gpt2:{label:"GPT-2",family:"gpt",layers:12,heads:12,kv_heads:12,head_dim:64,hidden:3072,vocab:50257,context:1024,tied:!0},"llama-2-7b":{label:"Llama 2 7B",family:"llama",layers:32,heads:32,kv_heads:32,head_dim:128,hidden:11008,vocab:32e3,context:0,tied:!1},"llama-3-8b":{label:"Llama 3 8B",family:"llama",layers:32,heads:32,kv_heads:8,head_dim:128,hidden:14336,vocab:128256,context:0,tied:!1},"llama-3-70b":{label:"Llama 3 70B",family:"llama",layers:80,heads:64,kv_heads:8,head_dim:128,hidden:28672,vocab:128256,context:0,tied:!1}},presets:{steps:{label:"cache or not",note:"The prefill costs the same both ways. Every later step without a cache is a longer prefill; with one it is a single position, whose keys and values join those that are kept.",set:{}},gqa:{label:"2 KV heads",note:"Grouped queries: two query heads share one head of keys and values. The cache halves; the attention's multiply-adds stay, since every query head still meets every key.",set:{kv_heads:2}},mqa:{label:"1 KV head",note:"Multi-query attention: all query heads share one head of keys and values. The cache is a quarter of that with four.",set:{kv_heads:1}},gpt2:{label:"GPT-2",note:"GPT-2 with 124 million parameters: its whole context of 1,024 tokens costs 37.7 MB of cache, less than its weights.",set:{view:"memory",model:"gpt2",length:1024,memory_gb:24}},"llama-2-7b":{label:"Llama 2 7B",note:"Each of 32 query heads has keys and values of its own: half a megabyte for a token. Beside the weights, 24 GB hold four sequences of 4,096 tokens.",set:{view:"memory",model:"llama-2-7b",length:4096,memory_gb:24}},"llama-3-8b":{label:"Llama 3 8B",note:"A larger model, but four query heads share a head of keys and values: a token costs a quarter of that in Llama 2 7B.",set:{view:"memory",model:"llama-3-8b",length:4096,memory_gb:24}},"llama-3-70b":{label:"Llama 3 70B",note:"70.6 billion parameters of two bytes need two GPUs of 80 GB, here counted as one memory; what they leave holds seven sequences of 8,192 tokens.",set:{view:"memory",model:"llama-3-70b",length:8192,memory_gb:160}},pages:{label:"pages",note:"Eight sequences share twelve pages. Reservations of 16 positions in the same memory admit three at a time and leave most of it empty.",set:{view:"pages"}},"large-pages":{label:"larger pages",note:"The same memory in pages of 8: a shorter block table, and more unused places in the last page of each sequence.",set:{view:"pages",page:8,capacity:6}},tight:{label:"too few pages",note:"Sequences are admitted when their prompt fits. When they grow and no page is free, the one admitted last gives its pages back and is computed again later.",set:{view:"pages",capacity:8}}}};var{fields:D,models:U,presets:Y,views:ze,longest:Ee,most:io,more:Ue}=ae,Ae=["family","layers","heads","kv_heads","head_dim","hidden","vocab","context","tied"],wt=ae.bytes,$t=ae.weight_bytes,xt=e=>Object.fromEntries(Ae.map(t=>[t,U[e][t]])),ee={view:"steps",...Object.fromEntries(Object.entries(D).map(([e,{value:t}])=>[e,t])),...xt("small"),prompt:ae.prompt,bytes_per_value:2,weight_bytes:2,memory_gb:24,requests:ae.requests},Se=Object.keys(ee);function Te({model:e,...t}){return e?{...xt(e),...t}:t}var lo=(e,t)=>Math.floor((e+t-1)/t),de=e=>e.reduce((t,o)=>t+o,0),Q=([e,t])=>e+t-1,gt=lo,Oe=e=>e.length*Q([0,1].map(t=>Math.max(...e.map(o=>o[t]))));function co({layers:e,heads:t,kv_heads:o,head_dim:a,hidden:s,vocab:i,context:d,family:p,tied:u}){let[m,c,h]=[t*a,o*a,p==="gpt"],b=2*m*(m+c)+(h?2:3)*m*s+(h?7*m+2*c+s:2*m);return e*b+(i*(u?1:2)+d+(h?2:1))*m}var _t=(e,{layers:t,kv_heads:o})=>2*t*o*e,po=(e,t,o=t.kv_heads)=>_t(e,{...t,kv_heads:o})*t.head_dim*t.bytes_per_value,Et=(e,t,{layers:o,heads:a,head_dim:s})=>2*o*a*s*e*t;function ho(e,t,o){let{layers:a,heads:s,kv_heads:i,head_dim:d,hidden:p,vocab:u,family:m}=e,c=s*d,h=2*c*(c+i*d)+(m==="gpt"?2:3)*c*p;return 2*(a*h*t+Et(t,o,e)+c*u*t)}function pe(e,t){let o=e.prompt.length;return Array.from({length:e.new_tokens},(a,s)=>{let i=o+s,d=s===0||!t?i:1,p=_t(1,e);return{step:s,phase:s?"decode":"prefill",new:d,total:i,computed:p*d,read:p*(i-d),macs:Et(d,i,e),flops:ho(e,d,i),kept:t?i:0}})}function C(e,t=e.kv_heads){let o=co(e),a=o*e.weight_bytes,s=po(1,e,t),i=s*e.length,d=e.memory_gb*1e9-a;return{parameters:o,weights:a,position:s,each:i,left:d,fit:Math.max(0,Math.floor(d/i))}}function yt(e,t,o){let a=e.map(([m,c],h)=>({number:h,prompt:m,new:c,generated:0,positions:0,pages:[]})),s=[],i=Array.from({length:o},(m,c)=>c),d=()=>i.shift(),p=[],u=m=>{s.splice(s.indexOf(m),1),i.push(...m.pages),i.sort((c,h)=>c-h),m.pages=[]};for(;a.length||s.some(m=>m.generated<m.new);){let m=s.filter(f=>f.generated===f.new);m.forEach(u);let c=[];for(let f of[...s]){for(;!c.includes(f)&&f.positions===f.pages.length*t&&!i.length;)c.push(s.at(-1)),u(s.at(-1));c.includes(f)||(f.positions===f.pages.length*t&&f.pages.push(d()),f.positions+=1,f.generated+=1)}for(let f of c)a.unshift(f);let h=[];for(;!c.length&&a.length;){let[f]=a,y=f.prompt+f.generated;if(gt(y,t)>i.length)break;f.pages=Array.from({length:gt(y,t)},d),f.positions=y,f.generated+=1,s.push(a.shift()),h.push(f)}let b=s.map(f=>({request:f.number,positions:f.positions,generated:f.generated,pages:[...f.pages],done:f.generated===f.new})),v=de(b.map(f=>f.pages.length)),x=f=>f.map(y=>y.number);p.push({running:b,waiting:x(a),ended:x(m),started:x(h),evicted:x(c),used:de(b.map(f=>f.positions)),held:v*t,pages:v})}return p}var re=e=>({steps:e.length,most:Math.max(...e.map(t=>t.running.length)),used:de(e.map(t=>t.used))/de(e.map(t=>t.held)),evicted:de(e.map(t=>t.evicted.length))}),he=({requests:e,page:t,capacity:o,reserve:a})=>[yt(e,t,o),yt(e,a,Math.floor(t*o/a))];function zt(e){let t=(e*7919+17)%65537,o=(a,s)=>(t=(t*75+74)%65537,a+t%(s-a+1));return Array.from({length:6},()=>[o(2,9),o(2,8)])}function Ye(e){let{heads:t,kv_heads:o,requests:a,reserve:s,page:i,capacity:d}=e;if(t%o)return`${t} heads cannot share ${o} heads of keys and values equally`;let p=Math.max(...a.map(Q));return s<p?`the longest sequence needs ${p} positions, but reserve is ${s}`:i*d<s?`${d} pages of ${i} hold ${i*d} positions, but reserve is ${s}`:""}var kt=e=>Array.isArray(e)&&e.every(t=>typeof t=="string"),Ke={view:e=>Object.hasOwn(ze,e),family:e=>e==="gpt"||e==="llama",tied:e=>typeof e=="boolean",prompt:e=>kt(e)&&e.length>=1&&e.length<=Ee,reply:e=>kt(e)&&e.length<=Ee,bytes_per_value:e=>[4,2,1].includes(e),weight_bytes:e=>[4,2,1,.5].includes(e),memory_gb:e=>Number.isFinite(e)&&e>0&&e<=1e5,requests:e=>Array.isArray(e)&&e.length>=1&&e.length<=io&&e.every(t=>Array.isArray(t)&&t.length===2&&t.every(o=>Number.isInteger(o)&&o>=1&&o<=32)),step:e=>Number.isInteger(e)&&e>=0,moment:e=>Number.isInteger(e)&&e>=0};function Qe(e,t){if(Ke[e])return Ke[e](t)?"":"not possible";let{low:o,high:a}=D[e];return Number.isInteger(t)&&t>=o&&t<=a?"":`a whole number from ${o} to ${a}`}function At(e){return!e||typeof e!="object"||Array.isArray(e)||!Object.entries(e).every(([t,o])=>(Object.hasOwn(D,t)||Object.hasOwn(Ke,t))&&!Qe(t,o))?!1:!Ye({...ee,...e})}var mo=(e,t)=>JSON.stringify(e)===JSON.stringify(t),St=e=>Object.keys(Y).find(t=>{let o={...ee,...Te(Y[t].set)};return Se.every(a=>mo(o[a],e[a]))}),me=e=>Object.keys(U).find(t=>Ae.every(o=>o==="kv_heads"||U[t][o]===e[o])),Tt=e=>Array.from({length:e},(t,o)=>e-o).filter(t=>e%t===0);var M=e=>e===1?"":"s",De=e=>e.reduce((t,o)=>t+o,0),S=e=>e.toLocaleString("en-US"),Ot=e=>e.length>1?`${e.slice(0,-1).join(", ")} and ${e.at(-1)}`:e[0],G=e=>String.fromCharCode(65+e);function te(e,t=""){for(let[o,a]of[[1e15,"P"],[1e12,"T"],[1e9,"G"],[1e6,"M"],[1e3,"k"]])if(e>=o)return`${K(e/o)} ${a}${t}`;return`${e} ${t}`.trim()}function Dt(e){let t=me(e);return t?U[t].label:`${e.layers} layer${M(e.layers)} of width ${e.heads*e.head_dim}`}var Me=(e,t)=>t===e?"multi-head":t===1?"multi-query":"grouped-query",Mt=({heads:e,kv_heads:t})=>`${Me(e,t)} attention, ${e} query head${M(e)} and ${t} KV head${M(t)}`,ue=({layers:e,kv_heads:t,head_dim:o,bytes_per_value:a})=>`2 × ${e} layer${M(e)} × ${t} KV head${M(t)} × ${o} × ${a} B`;function qt(e,t,o){return e.view==="pages"?bo(e,o):e.view==="memory"?fo(e):uo(e,t)}function uo(e,t){let[o,a]=[e.prompt.length,e.new_tokens],s=Math.min(t,a-1),i=[!1,!0].map(x=>pe(e,x)),d=o+s,p=s?`decode: without a cache ${d} positions go through the model again, with one only the newest, and the keys and values of ${d-1} are read`:`prefill: ${d} position${M(d)} go${d===1?"es":""} through the model, with a cache or without`,u=x=>i.map(f=>De(f.slice(0,s+1).map(y=>y[x]))),[m,c,h]=["computed","macs","flops"].map(u),{kept:b}=i[1][s],{position:v}=C(e);return`${Dt(e)}: ${Mt(e)}. ${o} token${M(o)} of prompt and ${a} new token${M(a)} take ${a} step${M(a)}. Step ${s+1} of ${a}, ${p}. So far: ${S(m[0])} rows of keys and values computed without a cache, ${S(m[1])} with one and ${S(u("read")[1])} read from it; ${te(c[0])} and ${te(c[1])} multiply-adds of attention; ${te(h[0],"FLOP")} and ${te(h[1],"FLOP")} of the whole model, ${K(h[0]/h[1])} times as many. The cache holds ${b} position${M(b)} of ${ue(e)} = ${A(v)}: ${A(v*b)}.`}function fo(e){let t=C(e),o=A(e.memory_gb*1e9),a=t.left<0?`The weights do not fit into ${o}.`:`Of ${o} ${A(t.left)} are left: ${S(t.fit)} such sequence${M(t.fit)} fit${t.fit===1?"s":""}. With ${e.heads} KV heads it would be ${S(C(e,e.heads).fit)}, with one ${S(C(e,1).fit)}.`,s=Mt(e),i=e.context&&e.length>e.context?` But it has only ${S(e.context)} learned positions.`:"";return`${Dt(e)}: ${_e(t.parameters)} parameters of ${e.weight_bytes} bytes are ${A(t.weights)}. ${s[0].toUpperCase()}${s.slice(1)}: a position costs ${ue(e)} = ${A(t.position)}, a sequence of ${S(e.length)} tokens ${A(t.each)}.${i} ${a}`}function Je(e,t){let o=e.ended.map(a=>{let{length:s}=t.running.find(i=>i.request===a).pages;return`${G(a)} has ended and returns ${s} page${M(s)}`});return o.push(...e.evicted.map(a=>`${G(a)} gives its pages back and will be computed again`)),e.started.length&&o.push(`${Ot(e.started.map(G))} start${e.started.length===1?"s":""}`),o.length?` ${o.join(", ")}.`:""}function bo(e,t){let[o,a]=he(e),s=Math.min(t,o.length-1),i=o[s],d=a[Math.min(s,a.length-1)],{capacity:p,page:u,requests:m,reserve:c}=e,h=m.length,b=i.running.map(O=>`${G(O.request)} keeps ${O.positions} position${M(O.positions)} in page${M(O.pages.length)} ${O.pages.join(", ")}${O.done?" and is done":""}`).join("; "),v=i.waiting.length?` ${Ot(i.waiting.map(G))} wait${i.waiting.length===1?"s":""}.`:"",[x,f]=[re(o),re(a)],y=p-i.pages;return`${h} sequence${M(h)}, ${p} page${M(p)} of ${u} position${M(u)}. Step ${s+1} of ${o.length}.${Je(i,o[s-1])} Block tables: ${b}.${v} Of ${i.held} positions in ${i.pages} held page${M(i.pages)} ${i.used} are used, ${i.held-i.used} are not; ${y} page${M(y)} ${y===1?"is":"are"} free. Reserving ${c} positions for each in the same memory holds ${d.held} in this step and uses ${d.used}. The whole run: ${x.steps} steps, at most ${x.most} at once, ${K(100*x.used)} % of what is held used${x.evicted?`, ${x.evicted} computed again`:""}; with reservations ${f.steps} steps, ${f.most} at once, ${K(100*f.used)} %. One left-padded batch of all would keep ${Oe(m)} positions, of which ${De(m.map(Q))} are tokens.`}var Ht={4:"torch.float32",2:"torch.bfloat16",1:"torch.float8_e4m3fn"};function It(e,t,o){return{steps:vo,memory:go,pages:yo}[e.view](e,e.view==="pages"?o:t)}var Pt=e=>`LAYERS, HEADS, KV_HEADS, HEAD_DIM = ${e.layers}, ${e.heads}, ${e.kv_heads}, ${e.head_dim}
HIDDEN, VOCAB = ${e.hidden}, ${e.vocab}
WIDTH = HEADS * HEAD_DIM`;function vo(e){let t=e.family==="llama",o=[!1,!0].map(s=>pe(e,s)).map(s=>[De(s.map(i=>i.computed)),De(s.map(i=>i.flops)),s.at(-1).kept*C(e).position]),a=s=>`(${s.join(", ")})`;return`import torch
from torch.nn.functional import ${t?"silu":"gelu"}
from torch.utils.flop_counter import FlopCounterMode

${Pt(e)}
PROMPT, NEW, KEPT = ${e.prompt.length}, ${e.new_tokens}, ${Ht[e.bytes_per_value]}


def empty(*shape):  # on the meta device shapes are computed and nothing is stored
    return torch.empty(shape, dtype=torch.bfloat16, device="meta")


shared = KV_HEADS * HEAD_DIM
shapes = [(WIDTH, WIDTH), (WIDTH, shared), (WIDTH, shared), (WIDTH, WIDTH), (HIDDEN, WIDTH), (WIDTH, HIDDEN)${t?", (WIDTH, HIDDEN)":""}]
layers = [[empty(*shape) for shape in shapes] for _ in range(LAYERS)]
head = empty(WIDTH, VOCAB)


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)  # (heads, T, HEAD_DIM)


def forward(tokens, cache):
    """A decoder without norms, residuals and masks, in which no matrix is multiplied; the rows of K and V it computes."""
    x, rows = empty(tokens, WIDTH), 0
    for i, (query, key, value, output, down, up${t?", gate":""}) in enumerate(layers):
        k, v = split(x @ key, KV_HEADS), split(x @ value, KV_HEADS)
        rows += (k.numel() + v.numel()) // HEAD_DIM
        if cache is not None:
            cache[i] = torch.cat([cache[i], torch.stack([k, v]).to(KEPT)], dim=2)
            k, v = cache[i].to(x.dtype)
        k, v = (one.repeat_interleave(HEADS // KV_HEADS, 0) for one in (k, v))
        scores = split(x @ query, HEADS) @ k.mT
        x = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ output
        x = ${t?"silu(x @ gate) * (x @ up) @ down":"gelu(x @ up) @ down"}
    x @ head
    return rows


totals = []
for cache in (None, [torch.empty(2, KV_HEADS, 0, HEAD_DIM, dtype=KEPT, device="meta") for _ in range(LAYERS)]):
    rows = flops = kept = 0
    for step in range(NEW):
        with FlopCounterMode(display=False) as counter:
            rows += forward(1 if cache and step else PROMPT + step, cache)
        flops += counter.get_total_flops()
        kept = sum(one.nbytes for one in cache or [])
        print(f"{'cache' if cache else 'none':5} step {step + 1}: {rows:,} rows, {flops:,} FLOPs so far, {kept:,} bytes kept")
    totals.append((rows, flops, kept))
assert totals == [${o.map(a).join(", ")}]
`}function go(e){let t=C(e),o=e.family==="gpt";return`import torch

${Pt(e)}
MEMORY, LENGTH = ${e.memory_gb*1e9}, ${e.length}

with torch.device("meta"):  # shapes only, nothing is stored
    shared = KV_HEADS * HEAD_DIM
    matrices = [(WIDTH, WIDTH), (shared, WIDTH), (shared, WIDTH), (WIDTH, WIDTH)${o?", (HIDDEN, WIDTH)":", (HIDDEN, WIDTH), (HIDDEN, WIDTH)"}, (WIDTH, HIDDEN)]
    block = [torch.empty(shape) for shape in matrices] + ${o?`[torch.empty(rows) for rows, _ in matrices]  # weights, biases
    block += [torch.empty(WIDTH) for _ in range(4)]  # two layer norms`:"[torch.empty(WIDTH) for _ in range(2)]  # and two norms"}
    rest = [torch.empty(VOCAB, WIDTH)${e.tied?"":" for _ in range(2)"}]${e.context?` + [torch.empty(${e.context}, WIDTH)]`:""} + [torch.empty(WIDTH)${o?" for _ in range(2)":""}]
    cache = [torch.empty(2, 1, KV_HEADS, LENGTH, HEAD_DIM, dtype=${Ht[e.bytes_per_value]}) for _ in range(LAYERS)]
parameters = LAYERS * sum(one.numel() for one in block) + sum(one.numel() for one in rest)
weights, each = parameters * ${e.weight_bytes}, sum(one.nbytes for one in cache)
fit = max(0, int((MEMORY - weights) // each))
print(f"{parameters:,} parameters, {weights / 1e9:.2f} GB; {each / 1e9:.3f} GB a sequence; {fit} fit")
assert (parameters, each, fit) == (${t.parameters}, ${t.each}, ${t.fit})
`}function yo(e,t){let{requests:o,page:a,capacity:s,head_dim:i}=e;return`import torch

REQUESTS = [${o.map(d=>`(${d.join(", ")})`).join(", ")}]  # prompt, new tokens
PAGE, CAPACITY, HEAD_DIM = ${a}, ${s}, ${i}

torch.manual_seed(0)
pool = torch.zeros(CAPACITY, PAGE, HEAD_DIM)  # the keys of one head in one layer
truth = [torch.randn(prompt + new, HEAD_DIM) for prompt, new in REQUESTS]
free, waiting, running = list(range(CAPACITY)), list(range(len(REQUESTS))), []
table = {i: [] for i in waiting}  # block tables: the pages of each sequence, in order
length, generated = dict.fromkeys(waiting, 0), dict.fromkeys(waiting, 0)


def write(i, first, last):
    for position in range(first, last):
        if position == len(table[i]) * PAGE:
            table[i].append(free.pop(0))
        pool[table[i][position // PAGE], position % PAGE] = truth[i][position]
    length[i], generated[i] = last, generated[i] + 1


def release(i):
    running.remove(i)
    free.extend(table[i])
    free.sort()
    table[i] = []


step = 0
while waiting or any(generated[i] < REQUESTS[i][1] for i in running):
    for i in [i for i in running if generated[i] == REQUESTS[i][1]]:
        release(i)
    evicted = []
    for i in list(running):
        while i not in evicted and length[i] == len(table[i]) * PAGE and not free:
            evicted.append(running[-1])
            release(running[-1])
        if i not in evicted:
            write(i, length[i], length[i] + 1)
    waiting = evicted[::-1] + waiting
    while not evicted and waiting:
        i = waiting[0]
        known = REQUESTS[i][0] + generated[i]
        if -(-known // PAGE) > len(free):
            break
        running.append(waiting.pop(0))
        write(i, 0, known)
    for i in running:  # attention would read these, gathered through the block table
        assert torch.equal(pool[table[i]].flatten(0, 1)[: length[i]], truth[i][: length[i]])
    step += 1
    if step == ${t+1}:
        held, used = sum(map(len, table.values())) * PAGE, sum(length[i] for i in running)
        print({chr(65 + i): table[i] for i in running}, "held", held, "used", used)
print("steps", step)
`}function Lt(e,t,o,a){let[s,i]=[a*.3,a-2],[d,p]=[t+a/2,o+a/2],u=B("rect",{x:t+1,y:o+1,width:i,height:i,rx:1.5,class:`kv-${e}`});return e==="lost"?[u,B("path",{d:`M${d-s/1.2} ${p-s/1.2}l${1.67*s} ${1.67*s}m0 ${-1.67*s}l${-1.67*s} ${1.67*s}`,class:"kv-cross"})]:e==="read"?[u,B("circle",{cx:d,cy:p,r:a*.17,class:"kv-dot"})]:e==="kept"?[u,B("path",{d:`M${d-s} ${p}l${.7*s} ${.8*s}l${1.2*s} ${-1.6*s}`,class:"kv-tick"})]:u}var ko={lost:"computed, then thrown away",kept:"computed and kept",read:"read from the cache"},Bt=()=>n("div",{class:"kv-key"},Object.entries(ko).map(([e,t])=>n("span",{},B("svg",{width:15,height:15,"aria-hidden":"true"},Lt(e,0,0,15)),t)));function Ct({cached:e,pick:t}){let o=B("svg",{class:"kv-svg",role:"img"}),a=e?"With a cache":"Without a cache",s=n("div",{class:"kv-panel"},n("p",{class:"kv-title"},a),o);function i(d,p,u,m){let c=p+u-1,h=Math.max(9,Math.min(22,Math.floor(300/c))),[b,v]=[22,66],[x,f]=[b+c*h+3,v+u*h+3];for(let[L,E]of Object.entries({viewBox:`0 0 ${x} ${f}`,width:x,height:f}))o.setAttribute(L,E);o.setAttribute("aria-label",`${a}: a row for each of ${u} steps, a column for each of ${c} positions; the words below say what each holds`);let y=d.map((L,E)=>B("text",{transform:`translate(${b+(E+.5)*h+3.5} ${v-5}) rotate(-90)`,class:E<p?null:"quiet"},[...L.trim()].slice(0,8).join("")||"␣")),O=Array.from({length:u},(L,E)=>{let j=v+E*h,be=Array.from({length:p+E},(ve,W)=>Lt(E>m?"later":e?E===0||W===p+E-1?"kept":"read":"lost",b+W*h,j,h)),oe=B("rect",{x:0,y:j,width:x,height:h,fill:"transparent",onclick:()=>t(E)});return B("g",{},B("text",{x:b-5,y:j+h/2+4,"text-anchor":"end",class:E===m?"on":"quiet"},E+1),be,E===m&&B("rect",{x:b-1,y:j-.5,width:(p+E)*h+2,height:h+1,rx:2,class:"kv-row"}),oe)});I(o,y,O)}return{node:s,draw:i}}function Nt(){let e=n("ol",{class:"kv-pool","aria-label":"Pages of the pool"}),t=(s,i)=>n("span",{},n("i",{class:`kv-sample ${s}`}),i),o=n("div",{class:"kv-key"},t("used","position in use"),t("spare","held, unused"),t("free","free page"));function a({page:s,capacity:i},d,p){let u=h=>new Map((h?.running??[]).flatMap(b=>b.pages.map((v,x)=>[v,[b,x]]))),[m,c]=[u(d),u(p)];I(e,Array.from({length:i},(h,b)=>{let[v,x]=m.get(b)??[],f=v?Math.min(s,v.positions-x*s):0,y=v&&c.get(b)?.[0].request!==v.request,O=v?`page ${b}: ${G(v.request)}, ${f} of ${s}${y?", new in this step":""}`:`page ${b}: free`,L=Array.from({length:s},(E,j)=>n("i",{class:v?j<f?"used":"spare":null}));return n("li",{class:`${v?"":"free"}${y?" fresh":""}`.trim()||null,title:O},n("span",{class:"kv-top"},n("span",{},b),v?n("b",{},G(v.request)):"free"),n("span",{class:"kv-slots","aria-hidden":"true"},L))}))}return{node:n("div",{class:"kv"},e,o),draw:a}}var jt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Wt="repeating-linear-gradient(135deg,var(--tb-warm) 0 1.5px,var(--tb-warm-soft) 1.5px 4.5px)",Gt=`
.kv{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .kv-title{font-size:.8em;font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .kv-small{font-size:.84em;color:var(--tb-muted);margin:0}
.kv-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.kv-chips .tbviz-button{font-size:.86em;min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .kv-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:.92em}
.kv-fields{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.kv-fields input[type=number]{width:5.4rem}
.kv-fields .kv-wide input[type=number]{width:7.4rem}
.kv-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.kv-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 2.2rem}
.kv-sliders .tbviz-slider>label{font-size:.88em}
.kv-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.kv-player{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}
.kv-player .tbviz-slider{flex:1 1 11rem;grid-template-columns:auto minmax(4rem,1fr) 4.6rem}
.kv-player output{white-space:nowrap}
.kv-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .kv-head{font-weight:600}
.kv-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:720px){.kv-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.kv-panel{min-width:0}
.tbviz .kv-svg{display:block;max-width:100%;height:auto}
.kv-svg text{font:11px system-ui,sans-serif;fill:var(--tb-fg)}
.kv-svg .quiet{fill:var(--tb-muted)}
.kv-svg .on{font-weight:700}
.kv-lost{fill:var(--tb-warm-soft);stroke:var(--tb-warm);stroke-width:1}
.kv-kept{fill:var(--tb-accent);stroke:var(--tb-accent);stroke-width:1}
.kv-read{fill:var(--tb-good-soft);stroke:var(--tb-good);stroke-width:1}
.kv-dot{fill:var(--tb-good)}
.kv-cross{stroke:var(--tb-warm);stroke-width:1.3;fill:none}
.kv-tick{stroke:var(--tb-bg);stroke-width:1.6;fill:none}
.kv-later{fill:none;stroke:var(--tb-line);stroke-width:1}
.kv-row{fill:none;stroke:var(--tb-fg);stroke-width:1.8}
.kv-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.84em}
.kv-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.kv-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .kv-table{border-collapse:collapse;margin:0;width:100%;font-size:.9em;display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .kv-table tr{background:none;border:0}
.tbviz .kv-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.22rem .4rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:top}
.tbviz .kv-table :is(td,th):first-child{text-align:left;padding-left:0}
.tbviz .kv-table thead th{color:var(--tb-muted);font-size:.94em}
.tbviz .kv-table tr.on>*{font-weight:650;background:var(--tb-fill)}
.tbviz .kv-tables :is(th,td){text-align:left}
.tbviz .kv-tables :is(th,td):nth-child(3){text-align:right;padding-right:1.2rem}
.kv-table td{white-space:nowrap}
.tbviz .kv-table .kv-pages{font-family:${jt};white-space:normal}
.kv-table b{font-weight:650;display:block;white-space:nowrap}
.kv-table span{color:var(--tb-muted);font-size:.9em;display:block;white-space:normal}
.tbviz .kv-formula{font-family:${jt};font-size:.88em;overflow-wrap:anywhere}
.kv-meter{height:1.7rem;border:1px solid var(--tb-edge);border-radius:4px;overflow:hidden;display:flex;background:var(--tb-bg)}
.kv-meter>i{display:block;height:100%;flex:none}
.kv-meter>.w{background:var(--tb-accent)}
.kv-meter>.c{background:repeating-linear-gradient(90deg,var(--tb-good) 0 2px,var(--tb-good-soft) 2px 7px)}
.kv-meter.over{border:2px dashed var(--tb-bad)}
.kv-meter.over>.w{background:var(--tb-bad)}
.kv-sample{display:inline-block;width:1.4em;height:.9em;border:1px solid var(--tb-edge);border-radius:2px;vertical-align:-.08em;margin-right:.35rem}
.kv-sample.w{background:var(--tb-accent)}
.kv-sample.c{background:repeating-linear-gradient(90deg,var(--tb-good) 0 2px,var(--tb-good-soft) 2px 7px)}
.kv-sample.used{background:var(--tb-accent)}
.kv-sample.spare{background:${Wt}}
.kv-sample.free{border-style:dashed;border-color:var(--tb-muted)}
.kv-pool{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:0;padding:0}
.tbviz .kv-pool>li{margin:0;padding:.15rem .3rem .3rem;border:1px solid var(--tb-edge);border-radius:5px;font-size:.82em;display:flex;flex-direction:column;gap:.15rem;min-width:3.4rem}
.tbviz .kv-pool>li.free{border-style:dashed;border-color:var(--tb-muted);color:var(--tb-muted)}
.tbviz .kv-pool>li.fresh{box-shadow:0 0 0 1.5px var(--tb-fg)}
.kv-pool b{font-weight:700}
.kv-top{display:flex;justify-content:space-between;gap:.4rem}
.kv-slots{display:flex;gap:2px}
.kv-slots>i{width:.72rem;height:.9rem;border:1px solid var(--tb-edge);border-radius:2px;display:block}
.kv-slots>.used{background:var(--tb-accent);border-color:var(--tb-accent)}
.kv-slots>.spare{background:${Wt}}
.free .kv-slots>i{border-style:dashed;border-color:var(--tb-muted)}
`;var wo="Step with the buttons, or with the arrow keys on the slider. A row is one key or one value: the numbers that a position has in one KV head of one layer. FLOPs are counted as FlopCounterMode counts them; attention counts all products, also those that the mask throws away.",Rt={"multi-head":"MHA","grouped-query":"GQA","multi-query":"MQA"},Xe=e=>e.reduce((t,o)=>t+o,0),fe=e=>n("thead",{},n("tr",{},e.map(t=>n("th",{scope:"col"},t)))),N=(e,t,o)=>n("tr",{class:o?"on":null},n("th",{scope:"row"},e),t.map(a=>n("td",{},a)));function $o({model:e,el:t}){let o=Fe({model:e,el:t,title:"KV cache explorer",describe:wo});o.css(Gt);let a=()=>Object.fromEntries(Se.map(r=>[r,e.get(r)])),s=()=>e.get("view")==="pages",i=()=>(s()?he(a())[0].length:e.get("new_tokens"))-1,d=()=>Math.min(e.get(s()?"moment":"step"),i()),p=0,u=()=>p!==0,m=()=>{clearInterval(p),p=0,He.textContent="Play"},c=r=>{m(),o.set(r)},h=r=>c({[s()?"moment":"step"]:Math.max(0,Math.min(i(),r))}),b=r=>c({...ee,reply:[],step:0,moment:0,...Te(r)}),v=Ve({key:Re(t,"kvcache",e.get("link")),el:t,get:()=>({...a(),reply:e.get("reply")??[],step:e.get("step"),moment:e.get("moment")}),put:r=>{typeof r=="string"?Object.hasOwn(Y,r)&&b(Y[r].set):At(r)&&b(r)}});o.defer(v.cleanup);let x=Object.entries(Y).map(([r,l])=>F(l.label,()=>{b(l.set),v.href(r)&&history.replaceState(null,"",v.href(r))})),f=Object.entries(ze).map(([r,l])=>F(l,()=>c({view:r}))),y=r=>{let l={...a(),...r},k=a();l.heads%l.kv_heads&&(l.kv_heads=l.heads);let $=Math.max(1,Math.min(D.hidden.high,Math.round(k.hidden/(k.heads*k.head_dim)*l.heads*l.head_dim)));c({...r,kv_heads:l.kv_heads,hidden:$})},O=r=>{let l={...a(),...r};l.reserve=Math.max(l.reserve,...l.requests.map(Q)),l.page*l.capacity<l.reserve&&(l.capacity=Math.ceil(l.reserve/l.page)),Ye(l)||c({...r,reserve:l.reserve,capacity:l.capacity,moment:"requests"in r?0:e.get("moment")})},L=r=>{let l=e.get("prompt");c({prompt:[...l,...ee.prompt,...Ue].slice(0,Math.max(r,1)).map((k,$)=>$<l.length?k:[...ee.prompt,...Ue][$]),step:0})},E=ie({label:"model",options:[],value:"",onchange:r=>r&&c({...Object.fromEntries(Ae.map(l=>[l,U[r][l]]))})}),j=ie({label:"KV heads",options:[],value:"",onchange:r=>c({kv_heads:Number(r)})}),be=(r,l,k)=>ie({label:r,options:Object.entries(l).map(([$,_])=>({value:$,label:_})).sort(($,_)=>_.value-$.value),value:"2",onchange:$=>c({[k]:Number($)})}),oe=be("bytes of a number",wt,"bytes_per_value"),ve=be("bytes of a weight",$t,"weight_bytes"),W=Object.fromEntries([["layers",D.layers.label,r=>c({layers:r})],["heads",D.heads.label,r=>y({heads:r})],["head_dim",D.head_dim.label,r=>y({head_dim:r})],["memory_gb","memory, GB",r=>c({memory_gb:r})],["length",D.length.label,r=>c({length:r})]].map(([r,l,k])=>{let $=Ne({label:l,value:null,min:D[r]?.low,max:D[r]?.high,step:r==="memory_gb"?"any":1,oninput:_=>_!==null&&!Qe(r,_)&&k(_)});return $.input.addEventListener("blur",()=>$.update({value:e.get(r)})),(r==="length"||r==="memory_gb")&&$.classList.add("kv-wide"),[r,$]})),se=(r,l,k,$,_)=>xe({label:l,min:k,max:$,value:k,oninput:_}),R={prompt:se("prompt","tokens of prompt",1,Ee,L),new_tokens:se("new_tokens",D.new_tokens.label,1,D.new_tokens.high,r=>c({new_tokens:r})),page:se("page",D.page.label,1,D.page.high,r=>O({page:r})),capacity:se("capacity",D.capacity.label,1,D.capacity.high,r=>O({capacity:r})),reserve:se("reserve",D.reserve.label,1,D.reserve.high,r=>O({reserve:r}))},Vt=0,Ze=F("Other sequences",()=>O({requests:zt(Vt+=1)})),qe={steps:[E,j,oe,W.layers,W.heads,W.head_dim,R.prompt,R.new_tokens],memory:[E,j,oe,ve,W.memory_gb,W.length],pages:[R.page,R.capacity,R.reserve,Ze]},ge=n("p",{class:"kv-note",role:"status"}),ne=n("p",{class:"kv-head"}),et=()=>{m(),e.save_changes(),lt()},He=F("Play",()=>{if(u())return et();let r=s()?"moment":"step";d()>=i()&&e.set(r,0),p=setInterval(()=>{let l=d()+1;e.set(r,l),l>=i()&&et()},je()?1800:1e3),He.textContent="Pause"},{kind:"primary"});o.defer(()=>clearInterval(p));let ye=(r,l,k)=>F(r,l,{name:k,title:k}),tt=[ye("|◂",()=>h(0),"First step"),ye("◂",()=>h(d()-1),"One step back"),ye("▸",()=>h(d()+1),"One step on"),ye("▸|",()=>h(i()),"Last step")],ot=xe({label:"step",min:1,max:2,value:1,format:r=>`${r} of ${i()+1}`,oninput:r=>h(r-1)}),Ie=n("div",{class:"kv-player"},le("Steps",[He,...tt]),ot),at=[!1,!0].map(r=>Ct({cached:r,pick:h})),Pe=Nt(),ke=n("div",{class:"kv-box"}),we=n("div",{class:"kv-box"}),Le=n("div",{class:"kv"}),rt=n("div",{class:"kv"},n("div",{class:"kv-pair"},at.map(r=>r.node)),Bt()),st=n("div",{class:"kv-box"},Ie,ne,rt,Le,Pe.node),Ft={steps:[Ie,ne,rt],memory:[Le],pages:[Ie,ne,Pe.node]};function Kt(r,l){let k=[!1,!0].map(z=>pe(r,z)),$=r.prompt.length,_=e.get("reply")??[],H=[...r.prompt,...Array.from({length:r.new_tokens-1},(z,q)=>_[q]??`+${q+1}`)];at.forEach(z=>z.draw(H,$,r.new_tokens,l)),ne.textContent=l?`Decode, step ${l+1}: the newest token “${H[$+l-1].trim()}” is fed, the next one comes out`:"Prefill, step 1: the prompt goes in, the first new token comes out";let P=(z,q,V)=>{let Ce=k.map(J=>[J[l][q],Xe(J.slice(0,l+1).map(X=>X[q]))]);return N(z,Ce.map(([J,X])=>[n("b",{title:S(J)},V(J)),n("span",{title:S(X)},`so far ${V(X)}`)]))},w=C(r).position,{kept:g}=k[1][l];I(ke,n("p",{class:"kv-title"},"Counted: this step, and so far"),n("table",{class:"kv-table"},fe(["counted","without","with a cache"]),n("tbody",{},P("rows of K and V computed","computed",S),P("rows read from the cache","read",S),P("multiply-adds of attention","macs",z=>te(z)),P("FLOPs of the model","flops",z=>te(z,"FLOP")),N("bytes of the cache",["none",n("b",{},A(w*g))]))));let T=k.map(z=>Xe(z.slice(0,l+1).map(q=>q.flops)));I(we,n("p",{class:"kv-title"},"The cache"),n("p",{class:"kv-formula"},`${ue(r)} = ${S(w)} B a position`),n("p",{class:"kv-formula"},`× ${g} position${g===1?"":"s"} = ${S(w*g)} B`),n("p",{class:"kv-small"},`At the end ${$} + ${r.new_tokens} − 1 = ${$+r.new_tokens-1} positions are kept: the last new token is never fed back.`),n("p",{class:"kv-small"},`So far the model does ${K(T[0]/T[1])} times the FLOPs without a cache. A decode step with one multiplies every matrix by a single vector: reading weights and cache takes its time, not the FLOPs.`))}function Ut(r){let l=C(r),k=r.memory_gb*1e9,$=(g,T)=>n("i",{class:g,style:{width:`${(100*Math.min(1,Math.max(0,T))).toFixed(2)}%`}}),_=l.left-l.fit*l.each,H=(g,T)=>n("span",{},n("i",{class:`kv-sample ${g}`}),T);I(Le,n("p",{class:"kv-head"},l.left<0?`The weights need ${A(l.weights)}, more than ${A(k)}`:`${S(l.fit)} sequence${l.fit===1?"":"s"} of ${S(r.length)} tokens fit${l.fit===1?"s":""} beside the weights`),n("div",{class:`kv-meter${l.left<0?" over":""}`,"aria-hidden":"true"},$("w",l.weights/k),$("c",l.left<0?0:l.fit*l.each/k)),n("div",{class:"kv-key"},H("w",`weights ${A(l.weights)}`),l.left>=0&&[H("c",`caches ${A(l.fit*l.each)}`),H("",`too little for one more ${A(_)}`)]),n("p",{class:"kv-formula"},`${ue(r)} = ${S(l.position)} B a position, × ${S(r.length)} = ${A(l.each)}`),n("p",{class:"kv-small"},`${_e(l.parameters)} parameters. An upper bound: activations, workspaces, the CUDA context and fragmentation take their part, so engines leave about a tenth free. GB are 10⁹ bytes. GPT-2 has only 1,024 positions.`));let P=[...new Set([r.heads,r.kv_heads,1])],w=["KV heads","a position","a sequence","fit"];I(ke,n("p",{class:"kv-title"},"This model with other KV heads, at the same weights"),n("table",{class:"kv-table"},fe(w),n("tbody",{},P.map(g=>[g,C(r,g)]).map(([g,T])=>N(`${g} (${Rt[Me(r.heads,g)]})`,[A(T.position),A(T.each),T.left<0?"–":S(T.fit)],g===r.kv_heads))))),I(we,n("p",{class:"kv-title"},`Published sizes, ${r.weight_bytes===.5?"½":r.weight_bytes} B a weight, ${r.bytes_per_value} B a number`),n("div",{class:"kv-scroll",tabindex:0,role:"region","aria-label":"Published models"},n("table",{class:"kv-table"},fe(["model","weights","a position","a sequence","fit"]),n("tbody",{},Object.entries(U).slice(1).map(([g,{label:T}])=>[g,T,C({...r,...Te({model:g})})]).map(([g,T,z])=>N(T,[A(z.weights),A(z.position),A(z.each),z.left<0?"–":S(z.fit)],g===me(r)))))))}function Yt(r,l){let[k,$]=he(r),_=k[l],H=$[Math.min(l,$.length-1)],[P,w]=[re(k),re($)],g=r.capacity-_.pages;ne.textContent=`Step ${l+1}:${Je(_,k[l-1])||" every sequence grows by one position."}`,Pe.draw(r,_,k[l-1]);let T=q=>{let V=_.running.find(Qt=>Qt.request===q),[Ce,J]=r.requests[q],X=`${G(q)}: ${Ce} + ${J}`;return V?n("tr",{},n("th",{scope:"row"},X),n("td",{},V.done?"done":_.started.includes(q)?"prefill":"decode"),n("td",{},V.positions),n("td",{class:"kv-pages"},V.pages.join(" "))):N(X,[_.waiting.includes(q)?_.evicted.includes(q)?"evicted":"waits":"gone","–","–"])};I(ke,n("p",{class:"kv-title"},"Block tables: prompt + new tokens, and the pages in order"),n("table",{class:"kv-table kv-tables"},fe(["sequence","state","kept","pages"]),n("tbody",{},r.requests.map((q,V)=>T(V)))));let z=q=>`${K(100*q)} %`;I(we,n("p",{class:"kv-title"},`Pages, and ${r.reserve} positions reserved for each, in the same memory`),n("table",{class:"kv-table"},fe(["counted","pages","reserved"]),n("tbody",{},N("running now",[_.running.length,H.running.length]),N("positions held now",[_.held,H.held]),N("of them unused",[_.held-_.used,H.held-H.used]),N("most at once",[P.most,w.most]),N("used of what is held, whole run",[z(P.used),z(w.used)]),N("steps for all",[P.steps,w.steps]),N("computed again",[P.evicted,w.evicted]))),n("p",{class:"kv-small"},`${g} page${g===1?" is":"s are"} free. One left-padded batch of all ${r.requests.length} would keep ${Oe(r.requests)} positions, of which ${Xe(r.requests.map(Q))} are tokens.`))}let $e=!1,nt=!0,Be=0;o.defer(()=>clearTimeout(Be));function it(){$e=!1;let r=a(),l=d(),{view:k}=r;for(let[w,g]of Object.entries(qe))for(let T of g)qe[k].includes(T)||(T.hidden=!0);qe[k].forEach(w=>w.hidden=!1),f.forEach((w,g)=>w.setAttribute("aria-pressed",String(Object.keys(ze)[g]===k)));let $=me(r);E.update({options:[...$?[]:[{value:"",label:"own sizes"}],...Object.entries(U).map(([w,{label:g}])=>({value:w,label:g}))],value:$??""}),j.update({options:Tt(r.heads).map(w=>({value:String(w),label:`${w} (${Rt[Me(r.heads,w)]})`})),value:r.kv_heads}),oe.update({value:r.bytes_per_value}),ve.update({value:r.weight_bytes});for(let[w,g]of Object.entries(W))g.getRootNode().activeElement!==g.input&&g.update({value:r[w]});for(let[w,g]of Object.entries(R))g.update({value:w==="prompt"?r.prompt.length:r[w]});let _=Math.max(...r.requests.map(Q));R.reserve.update({min:_,value:r.reserve}),R.capacity.update({min:Math.ceil(r.reserve/r.page),value:r.capacity});let H=St(r);Object.keys(Y).forEach((w,g)=>x[g].setAttribute("aria-pressed",String(w===H))),ge.textContent!==(Y[H]?.note??"")&&(ge.textContent=Y[H]?.note??""),ge.hidden=!H,ot.update({max:i()+1,value:l+1}),tt.forEach((w,g)=>w.disable(g<2?l===0:l>=i()));for(let w of st.children)w.hidden=!Ft[k].includes(w);({steps:Kt,memory:Ut,pages:Yt})[k](r,l),clearTimeout(Be);let P=()=>o.say(qt(r,e.get("step"),e.get("moment")));nt?P():u()||(Be=setTimeout(P,250)),nt=!1}let lt=()=>{$e||queueMicrotask(()=>$e&&it()),$e=!0};for(let r of[...Se,"reply","step","moment"])o.on(r,lt);return I(o.controls,n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Start from"),le("Presets",x)),n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Look at"),le("Look at",f)),n("div",{class:"kv-fields"},E,j,oe,ve,Object.values(W)),n("div",{class:"kv-sliders"},Object.values(R)),n("div",{class:"kv-bar"},Ze,ce("Copy as PyTorch",()=>It(a(),e.get("step"),d())),v)),I(o.stage,n("div",{class:"kv"},ge,st,n("div",{class:"kv-pair"},ke,we))),it(),o.cleanup}var da={render:$o};export{da as default};
