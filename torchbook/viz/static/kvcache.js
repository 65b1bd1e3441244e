var Xt="http://www.w3.org/2000/svg",Zt=Math.random().toString(36).slice(2,8),eo=0,ae=(e="tb")=>`${e}-${Zt}-${eo+=1}`,n=(e,t,...o)=>ct(document.createElement(e),t,o),W=(e,t,...o)=>ct(document.createElementNS(Xt,e),t,o);function ct(e,t,o){for(let[r,s]of Object.entries(t??{}))s===!1||s===null||s===void 0||(typeof s=="function"&&r.startsWith("on")?e.addEventListener(r.slice(2),s):r==="style"&&typeof s=="object"?to(e,s):e.setAttribute(r,s===!0?"":s));return e.append(...dt(o)),e}function to(e,t){for(let[o,r]of Object.entries(t))o.startsWith("--")?e.style.setProperty(o,r):e.style[o]=r}var dt=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1&&t!=="");function L(e,...t){return e.replaceChildren(...dt(t)),e}function U(e,t,o={}){let r=n("button",{type:"button",class:["tbviz-button",o.kind&&`tbviz-${o.kind}`].filter(Boolean).join(" "),title:o.title,"aria-label":o.name,onclick:s=>r.getAttribute("aria-disabled")!=="true"&&t(s)},e);return r.disable=s=>s?r.setAttribute("aria-disabled","true"):r.removeAttribute("aria-disabled"),r.disable(!!o.disabled),r}function Ee({label:e,min:t,max:o,step:r=1,value:s,oninput:i,format:d=String,title:p}){let h=ae(),f=n("output",{for:h}),c=n("input",{type:"range",id:h,oninput:()=>{m(),i(Number(c.value))}}),m=()=>{let v=d(Number(c.value));f.textContent=v,c.setAttribute("aria-valuetext",v)},b=n("div",{class:"tbviz-slider",title:p},n("label",{for:h},e),c,f);return b.input=c,b.update=v=>{for(let x of["min","max","step"])v[x]!==void 0&&(c[x]=v[x]);v.value!==void 0&&(c.value=v.value),c.disabled=Number(c.min)>=Number(c.max),m()},b.update({min:t,max:o,step:r,value:s}),b}function de({label:e,options:t,value:o,onchange:r,title:s}){let i=ae(),d=n("select",{id:i,onchange:()=>r(d.value)}),p=n("div",{class:"tbviz-field",title:s},n("label",{for:i},e),d);return p.input=d,p.update=h=>{if(h.options){let f=h.options.map(c=>typeof c=="object"?c:{label:String(c),value:String(c)});L(d,f.map(c=>n("option",{value:c.value},c.label)))}h.value!==void 0&&(d.value=String(h.value))},p.update({options:t,value:o}),p}function We({label:e,value:t,min:o,max:r,placeholder:s,oninput:i,onenter:d,step:p=1,title:h}){let f=ae(),c=n("input",{type:"number",id:f,min:o,max:r,step:p,placeholder:s,inputmode:"numeric",oninput:()=>i(c.value.trim()===""?null:Number(c.value)),onkeydown:b=>b.key==="Enter"&&d?.()}),m=n("div",{class:"tbviz-field",title:h},n("label",{for:f},e),c);return m.input=c,m.update=b=>{for(let v of["min","max"])b[v]!==void 0&&(c[v]=b[v]);b.value!==void 0&&c.value!==String(b.value??"")&&(c.value=b.value??"")},m.update({value:t}),m}var pt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function X(e,t){let o=n("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":e},t),r=()=>[...o.querySelectorAll("button, a[href]")],s=i=>r().forEach(d=>d.tabIndex=d===i?0:-1);return o.addEventListener("focusin",i=>s(i.target.closest("button, a[href]"))),o.addEventListener("keydown",i=>{let d=r(),p=d.indexOf(i.target);if(p<0)return;let h=-1;i.key in pt?h=(p+pt[i.key]+d.length)%d.length:i.key==="Home"?h=0:i.key==="End"&&(h=d.length-1),!(h<0)&&(i.preventDefault(),d[h].focus())}),s(r()[0]),o.reset=()=>s(r().find(i=>i.tabIndex===0)??r()[0]),o}async function mt(e){try{return await navigator.clipboard.writeText(e),!0}catch{return oo(e)}}function oo(e){let t=document.activeElement,o=n("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});o.value=e,document.body.append(o),o.select();let r=!1;try{r=document.execCommand("copy")}catch{r=!1}return o.remove(),t?.focus?.(),r}function pe(e,t,o={}){let r=n("span",{class:"tbviz-status",role:"status"}),s=0,i=p=>{clearTimeout(s),r.textContent=p,s=setTimeout(()=>r.textContent="",2500)},d=U(e,async()=>{let p=t();i(await mt(p)?"Copied":`Copying is not allowed here. Copy this: ${p}`)},o);return n("span",{class:"tbviz-copy"},d,r)}var Ge=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;var ao=e=>{let t=new TextEncoder().encode(JSON.stringify(e));return btoa(String.fromCharCode(...t)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},ro=e=>{let t=atob(e.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(t,o=>o.charCodeAt(0))))},Re=(e,t)=>typeof t=="string"&&/^[\w-]+$/.test(t)?`#tbviz-${e}:${t}`:`#tbviz-${e}=${ao(t)}`;function ht(e,t){let o;try{o=decodeURIComponent(t)}catch{return}for(let[r,s]of[[":",i=>i],["=",ro]]){let i=`#tbviz-${e}${r}`;if(o.startsWith(i))try{return s(o.slice(i.length))}catch{return}}}var Ve=e=>e.closest(".viz-mount");function Fe(e,t,o){let r=Ve(e);return o||!r?o||t:`${t}-${[...document.querySelectorAll(".viz-mount")].indexOf(r)+1}`}function Ke({key:e,get:t,put:o,el:r,label:s="Copy link"}){let i=!!Ve(r),d=c=>`${location.href.split("#")[0]}${Re(e,c)}`,p=i?pe(s,()=>d(t()),{title:"A link that opens this figure as it is now"}):n("span",{hidden:!0}),h=c=>{let m=ht(e,location.hash);m!==void 0&&(o(m),c&&r.scrollIntoView({block:r.clientHeight>innerHeight?"start":"nearest"}))},f=()=>h(!0);return p.href=c=>i?Re(e,c):"",p.cleanup=()=>removeEventListener("hashchange",f),p.start=()=>{i&&(addEventListener("hashchange",f),h(!0))},queueMicrotask(p.start),p}var ut=`color-scheme:light;
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
`;var gt=3;function Ue({model:e,el:t,title:o,finding:r,invitation:s,describe:i}){let d=[],p=ae(),h=n("div",{class:"tbviz-stage"}),f=n("div",{class:"tbviz-bar"}),c=n("div",{class:"tbviz-readout"}),m=n("div",{class:"tbviz-rest"}),b=n("p",{class:"tbviz-words","aria-live":"polite"}),v=n("p",{class:"tbviz-help",id:p}),x=n("details",{class:"tbviz-drawer"},n("summary",{},"Settings and numbers"),m,v),u=n("style",{},vt),_=n("div",{class:"tbviz",role:"group","aria-label":o,"aria-describedby":typeof i=="string"?p:null},u,n("div",{class:"tbviz-head"},n("p",{class:"tbviz-finding"},r),n("p",{class:"tbviz-invitation"},s)),h,f,c,b,x),q=({presets:$=[],...C})=>{let H=$.slice(gt),ee=[[h,[C.stage]],[f,[$.length>0&&X("Presets",$.slice(0,gt)),C.bar]],[c,[C.readout]],[m,[H.length>0&&n("div",{},n("p",{class:"tbviz-title"},"Start from"),X("More presets",H)),C.drawer]]];for(let[j,Pe]of ee)L(j,Pe.flat()),j.hidden=!j.childNodes.length};typeof i=="string"?v.textContent=i:v.hidden=!0,_.addEventListener("keydown",$=>$.stopPropagation());let V=$=>{for(let[C,H]of Object.entries($))e.set(C,H);e.save_changes()},E=$=>{b.textContent!==$&&(b.textContent=$),e.get("words")!==$&&V({words:$})},B=($,C)=>{let H=()=>C(e.get($));e.on(`change:${$}`,H),d.push(()=>e.off(`change:${$}`,H))},ne=()=>{for(;d.length;)d.pop()();_.remove()};return t.append(_),typeof i=="function"&&E(i()),{root:_,stage:h,words:b,help:v,lay:q,say:E,on:B,set:V,defer:$=>d.push($),cleanup:ne,css:$=>u.append($)}}function Y(e,t=3){if(e===0)return"0";let o=e.toExponential(t-1),r=Number(o.slice(o.indexOf("e")+1));return r>=t?String(Math.round(e)):Number(o).toFixed(Math.max(0,t-1-r))}var so=[[1e12," trillion"],[1e9," billion"],[1e6," million"]];function Se(e){let[t,o]=so.find(([r])=>e>=r)??[1,""];return o?`${Number((e/t).toPrecision(6))}${o}`:String(e)}var no=[[1e12,"TB"],[1e9,"GB"],[1e6,"MB"],[1e3,"kB"],[0,"B"]];function A(e){let[t,o]=no.find(([r])=>e>=r);return`${Y(t?e/t:e)} ${o}`}var le={fields:{layers:{label:"layers",value:4,low:1,high:128},heads:{label:"query heads",value:4,low:1,high:128},kv_heads:{label:"KV heads",value:4,low:1,high:128},head_dim:{label:"head_dim",value:32,low:1,high:256},hidden:{label:"hidden",value:512,low:1,high:131072},vocab:{label:"vocabulary",value:65,low:1,high:3e5},context:{label:"learned positions",value:128,low:0,high:1e6},new_tokens:{label:"new tokens",value:8,low:1,high:16},length:{label:"tokens of a sequence",value:128,low:1,high:1e6},page:{label:"positions in a page",value:4,low:1,high:16},capacity:{label:"pages",value:12,low:1,high:48},reserve:{label:"reserved for each",value:16,low:1,high:32}},prompt:["A","cache","keeps","what","was","computed"],more:["once","and","is","read","again","at","every","later","step","here"],longest:16,requests:[[5,6],[3,8],[7,4],[2,7],[6,3],[4,5],[8,4],[3,6]],most:8,bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (fp8)"},weight_bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (int8, fp8)","0.5":"½ (4 bits)"},views:{steps:"Step by step",memory:"Memory",pages:"Pages"},models:{small:{label:"Small GPT",family:"gpt",layers:4,heads:4,kv_heads:4,head_dim:32,hidden:512,vocab:65,context:128,tied:!0},gpt2:{label:"GPT-2",family:"gpt",layers:12,heads:12,kv_heads:12,head_dim:64,hidden:3072,vocab:50257,context:1024,tied:!0},"llama-2-7b":{label:"Llama 2 7B",family:"llama",layers:32,heads:32,kv_heads:32,head_dim:128,hidden:11008,vocab:32e3,context:0,tied:!1},"llama-3-8b":{label:"Llama 3 8B",family:"llama",layers:32,heads:32,kv_heads:8,head_dim:128,hidden:14336,vocab:128256,context:0,tied:!1},"llama-3-70b":{label:"Llama 3 70B",family:"llama",layers:80,heads:64,kv_heads:8,head_dim:128,hidden:28672,vocab:128256,context:0,tied:!1}},presets:{steps:{label:"cache or not",note:"The prefill costs the same both ways. Every later step without a cache is a longer prefill; with one it is a single position, whose keys and values join those that are kept.",set:{}},gqa:{label:"2 KV heads",note:"Grouped queries: two query heads share one head of keys and values. The cache halves; the attention's multiply-adds stay, since every query head still meets every key.",set:{kv_heads:2}},mqa:{label:"1 KV head",note:"Multi-query attention: all query heads share one head of keys and values. The cache is a quarter of that with four.",set:{kv_heads:1}},gpt2:{label:"GPT-2",note:"GPT-2 with 124 million parameters: its whole context of 1,024 tokens costs 37.7 MB of cache, less than its weights.",set:{view:"memory",model:"gpt2",length:1024,memory_gb:24}},"llama-2-7b":{label:"Llama 2 7B",note:"Each of 32 query heads has keys and values of its own: half a megabyte for a token. Beside the weights, 24 GB hold four sequences of 4,096 tokens.",set:{view:"memory",model:"llama-2-7b",length:4096,memory_gb:24}},"llama-3-8b":{label:"Llama 3 8B",note:"A larger model, but four query heads share a head of keys and values: a token costs a quarter of that in Llama 2 7B.",set:{view:"memory",model:"llama-3-8b",length:4096,memory_gb:24}},"llama-3-70b":{label:"Llama 3 70B",note:"70.6 billion parameters of two bytes need two GPUs of 80 GB, here counted as one memory; what they leave holds seven sequences of 8,192 tokens.",set:{view:"memory",model:"llama-3-70b",length:8192,memory_gb:160}},pages:{label:"pages",note:"Eight sequences share twelve pages. Reservations of 16 positions in the same memory admit three at a time and leave most of it empty.",set:{view:"pages"}},"large-pages":{label:"larger pages",note:"The same memory in pages of 8: a shorter block table, and more unused places in the last page of each sequence.",set:{view:"pages",page:8,capacity:6}},tight:{label:"too few pages",note:"Sequences are admitted when their prompt fits. When they grow and no page is free, the one admitted last gives its pages back and is computed again later.",set:{view:"pages",capacity:8}}}};var{fields:D,models:Q,presets:J,views:Te,longest:Ae,most:lo,more:Qe}=le,Oe=["family","layers","heads","kv_heads","head_dim","hidden","vocab","context","tied"],xt=le.bytes,$t=le.weight_bytes,zt=e=>Object.fromEntries(Oe.map(t=>[t,Q[e][t]])),re={view:"steps",...Object.fromEntries(Object.entries(D).map(([e,{value:t}])=>[e,t])),...zt("small"),prompt:le.prompt,bytes_per_value:2,weight_bytes:2,memory_gb:24,requests:le.requests},De=Object.keys(re);function Me({model:e,...t}){return e?{...zt(e),...t}:t}var co=(e,t)=>Math.floor((e+t-1)/t),me=e=>e.reduce((t,o)=>t+o,0),Z=([e,t])=>e+t-1,yt=co,He=e=>e.length*Z([0,1].map(t=>Math.max(...e.map(o=>o[t]))));function po({layers:e,heads:t,kv_heads:o,head_dim:r,hidden:s,vocab:i,context:d,family:p,tied:h}){let[f,c,m]=[t*r,o*r,p==="gpt"],b=2*f*(f+c)+(m?2:3)*f*s+(m?7*f+2*c+s:2*f);return e*b+(i*(h?1:2)+d+(m?2:1))*f}var _t=(e,{layers:t,kv_heads:o})=>2*t*o*e,mo=(e,t,o=t.kv_heads)=>_t(e,{...t,kv_heads:o})*t.head_dim*t.bytes_per_value,Et=(e,t,{layers:o,heads:r,head_dim:s})=>2*o*r*s*e*t;function ho(e,t,o){let{layers:r,heads:s,kv_heads:i,head_dim:d,hidden:p,vocab:h,family:f}=e,c=s*d,m=2*c*(c+i*d)+(f==="gpt"?2:3)*c*p;return 2*(r*m*t+Et(t,o,e)+c*h*t)}function he(e,t){let o=e.prompt.length;return Array.from({length:e.new_tokens},(r,s)=>{let i=o+s,d=s===0||!t?i:1,p=_t(1,e);return{step:s,phase:s?"decode":"prefill",new:d,total:i,computed:p*d,read:p*(i-d),macs:Et(d,i,e),flops:ho(e,d,i),kept:t?i:0}})}function G(e,t=e.kv_heads){let o=po(e),r=o*e.weight_bytes,s=mo(1,e,t),i=s*e.length,d=e.memory_gb*1e9-r;return{parameters:o,weights:r,position:s,each:i,left:d,fit:Math.max(0,Math.floor(d/i))}}function wt(e,t,o){let r=e.map(([f,c],m)=>({number:m,prompt:f,new:c,generated:0,positions:0,pages:[]})),s=[],i=Array.from({length:o},(f,c)=>c),d=()=>i.shift(),p=[],h=f=>{s.splice(s.indexOf(f),1),i.push(...f.pages),i.sort((c,m)=>c-m),f.pages=[]};for(;r.length||s.some(f=>f.generated<f.new);){let f=s.filter(u=>u.generated===u.new);f.forEach(h);let c=[];for(let u of[...s]){for(;!c.includes(u)&&u.positions===u.pages.length*t&&!i.length;)c.push(s.at(-1)),h(s.at(-1));c.includes(u)||(u.positions===u.pages.length*t&&u.pages.push(d()),u.positions+=1,u.generated+=1)}for(let u of c)r.unshift(u);let m=[];for(;!c.length&&r.length;){let[u]=r,_=u.prompt+u.generated;if(yt(_,t)>i.length)break;u.pages=Array.from({length:yt(_,t)},d),u.positions=_,u.generated+=1,s.push(r.shift()),m.push(u)}let b=s.map(u=>({request:u.number,positions:u.positions,generated:u.generated,pages:[...u.pages],done:u.generated===u.new})),v=me(b.map(u=>u.pages.length)),x=u=>u.map(_=>_.number);p.push({running:b,waiting:x(r),ended:x(f),started:x(m),evicted:x(c),used:me(b.map(u=>u.positions)),held:v*t,pages:v})}return p}var ce=e=>({steps:e.length,most:Math.max(...e.map(t=>t.running.length)),used:me(e.map(t=>t.used))/me(e.map(t=>t.held)),evicted:me(e.map(t=>t.evicted.length))}),ue=({requests:e,page:t,capacity:o,reserve:r})=>[wt(e,t,o),wt(e,r,Math.floor(t*o/r))];function St(e){let t=(e*7919+17)%65537,o=(r,s)=>(t=(t*75+74)%65537,r+t%(s-r+1));return Array.from({length:6},()=>[o(2,9),o(2,8)])}function Je(e){let{heads:t,kv_heads:o,requests:r,reserve:s,page:i,capacity:d}=e;if(t%o)return`${t} heads cannot share ${o} heads of keys and values equally`;let p=Math.max(...r.map(Z));return s<p?`the longest sequence needs ${p} positions, but reserve is ${s}`:i*d<s?`${d} pages of ${i} hold ${i*d} positions, but reserve is ${s}`:""}var kt=e=>Array.isArray(e)&&e.every(t=>typeof t=="string"),Ye={view:e=>Object.hasOwn(Te,e),family:e=>e==="gpt"||e==="llama",tied:e=>typeof e=="boolean",prompt:e=>kt(e)&&e.length>=1&&e.length<=Ae,reply:e=>kt(e)&&e.length<=Ae,bytes_per_value:e=>[4,2,1].includes(e),weight_bytes:e=>[4,2,1,.5].includes(e),memory_gb:e=>Number.isFinite(e)&&e>0&&e<=1e5,requests:e=>Array.isArray(e)&&e.length>=1&&e.length<=lo&&e.every(t=>Array.isArray(t)&&t.length===2&&t.every(o=>Number.isInteger(o)&&o>=1&&o<=32)),step:e=>Number.isInteger(e)&&e>=0,moment:e=>Number.isInteger(e)&&e>=0};function Xe(e,t){if(Ye[e])return Ye[e](t)?"":"not possible";let{low:o,high:r}=D[e];return Number.isInteger(t)&&t>=o&&t<=r?"":`a whole number from ${o} to ${r}`}function At(e){return!e||typeof e!="object"||Array.isArray(e)||!Object.entries(e).every(([t,o])=>(Object.hasOwn(D,t)||Object.hasOwn(Ye,t))&&!Xe(t,o))?!1:!Je({...re,...e})}var uo=(e,t)=>JSON.stringify(e)===JSON.stringify(t),Tt=e=>Object.keys(J).find(t=>{let o={...re,...Me(J[t].set)};return De.every(r=>uo(o[r],e[r]))}),fe=e=>Object.keys(Q).find(t=>Oe.every(o=>o==="kv_heads"||Q[t][o]===e[o])),Ot=e=>Array.from({length:e},(t,o)=>e-o).filter(t=>e%t===0);var M=e=>e===1?"":"s",qe=e=>e.reduce((t,o)=>t+o,0),T=e=>e.toLocaleString("en-US"),Dt=e=>e.length>1?`${e.slice(0,-1).join(", ")} and ${e.at(-1)}`:e[0],F=e=>String.fromCharCode(65+e);function se(e,t=""){for(let[o,r]of[[1e15,"P"],[1e12,"T"],[1e9,"G"],[1e6,"M"],[1e3,"k"]])if(e>=o)return`${Y(e/o)} ${r}${t}`;return`${e} ${t}`.trim()}function Mt(e){let t=fe(e);return t?Q[t].label:`${e.layers} layer${M(e.layers)} of width ${e.heads*e.head_dim}`}var Ie=(e,t)=>t===e?"multi-head":t===1?"multi-query":"grouped-query",Ht=({heads:e,kv_heads:t})=>`${Ie(e,t)} attention, ${e} query head${M(e)} and ${t} KV head${M(t)}`,be=({layers:e,kv_heads:t,head_dim:o,bytes_per_value:r})=>`2 × ${e} layer${M(e)} × ${t} KV head${M(t)} × ${o} × ${r} B`;function qt(e,t,o){return e.view==="pages"?vo(e,o):e.view==="memory"?bo(e):fo(e,t)}function fo(e,t){let[o,r]=[e.prompt.length,e.new_tokens],s=Math.min(t,r-1),i=[!1,!0].map(x=>he(e,x)),d=o+s,p=s?`decode: without a cache ${d} positions go through the model again, with one only the newest, and the keys and values of ${d-1} are read`:`prefill: ${d} position${M(d)} go${d===1?"es":""} through the model, with a cache or without`,h=x=>i.map(u=>qe(u.slice(0,s+1).map(_=>_[x]))),[f,c,m]=["computed","macs","flops"].map(h),{kept:b}=i[1][s],{position:v}=G(e);return`${Mt(e)}: ${Ht(e)}. ${o} token${M(o)} of prompt and ${r} new token${M(r)} take ${r} step${M(r)}. Step ${s+1} of ${r}, ${p}. So far: ${T(f[0])} rows of keys and values computed without a cache, ${T(f[1])} with one and ${T(h("read")[1])} read from it; ${se(c[0])} and ${se(c[1])} multiply-adds of attention; ${se(m[0],"FLOP")} and ${se(m[1],"FLOP")} of the whole model, ${Y(m[0]/m[1])} times as many. The cache holds ${b} position${M(b)} of ${be(e)} = ${A(v)}: ${A(v*b)}.`}function bo(e){let t=G(e),o=A(e.memory_gb*1e9),r=t.left<0?`The weights do not fit into ${o}.`:`Of ${o} ${A(t.left)} are left: ${T(t.fit)} such sequence${M(t.fit)} fit${t.fit===1?"s":""}. With ${e.heads} KV heads it would be ${T(G(e,e.heads).fit)}, with one ${T(G(e,1).fit)}.`,s=Ht(e),i=e.context&&e.length>e.context?` But it has only ${T(e.context)} learned positions.`:"";return`${Mt(e)}: ${Se(t.parameters)} parameters of ${e.weight_bytes} bytes are ${A(t.weights)}. ${s[0].toUpperCase()}${s.slice(1)}: a position costs ${be(e)} = ${A(t.position)}, a sequence of ${T(e.length)} tokens ${A(t.each)}.${i} ${r}`}function Ze(e,t){let o=e.ended.map(r=>{let{length:s}=t.running.find(i=>i.request===r).pages;return`${F(r)} has ended and returns ${s} page${M(s)}`});return o.push(...e.evicted.map(r=>`${F(r)} gives its pages back and will be computed again`)),e.started.length&&o.push(`${Dt(e.started.map(F))} start${e.started.length===1?"s":""}`),o.length?` ${o.join(", ")}.`:""}function vo(e,t){let[o,r]=ue(e),s=Math.min(t,o.length-1),i=o[s],d=r[Math.min(s,r.length-1)],{capacity:p,page:h,requests:f,reserve:c}=e,m=f.length,b=i.running.map(q=>`${F(q.request)} keeps ${q.positions} position${M(q.positions)} in page${M(q.pages.length)} ${q.pages.join(", ")}${q.done?" and is done":""}`).join("; "),v=i.waiting.length?` ${Dt(i.waiting.map(F))} wait${i.waiting.length===1?"s":""}.`:"",[x,u]=[ce(o),ce(r)],_=p-i.pages;return`${m} sequence${M(m)}, ${p} page${M(p)} of ${h} position${M(h)}. Step ${s+1} of ${o.length}.${Ze(i,o[s-1])} Block tables: ${b}.${v} Of ${i.held} positions in ${i.pages} held page${M(i.pages)} ${i.used} are used, ${i.held-i.used} are not; ${_} page${M(_)} ${_===1?"is":"are"} free. Reserving ${c} positions for each in the same memory holds ${d.held} in this step and uses ${d.used}. The whole run: ${x.steps} steps, at most ${x.most} at once, ${Y(100*x.used)} % of what is held used${x.evicted?`, ${x.evicted} computed again`:""}; with reservations ${u.steps} steps, ${u.most} at once, ${Y(100*u.used)} %. One left-padded batch of all would keep ${He(f)} positions, of which ${qe(f.map(Z))} are tokens.`}var It={4:"torch.float32",2:"torch.bfloat16",1:"torch.float8_e4m3fn"};function Pt(e,t,o){return{steps:go,memory:yo,pages:wo}[e.view](e,e.view==="pages"?o:t)}var Lt=e=>`LAYERS, HEADS, KV_HEADS, HEAD_DIM = ${e.layers}, ${e.heads}, ${e.kv_heads}, ${e.head_dim}
HIDDEN, VOCAB = ${e.hidden}, ${e.vocab}
WIDTH = HEADS * HEAD_DIM`;function go(e){let t=e.family==="llama",o=[!1,!0].map(s=>he(e,s)).map(s=>[qe(s.map(i=>i.computed)),qe(s.map(i=>i.flops)),s.at(-1).kept*G(e).position]),r=s=>`(${s.join(", ")})`;return`import torch
from torch.nn.functional import ${t?"silu":"gelu"}
from torch.utils.flop_counter import FlopCounterMode

${Lt(e)}
PROMPT, NEW, KEPT = ${e.prompt.length}, ${e.new_tokens}, ${It[e.bytes_per_value]}


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
assert totals == [${o.map(r).join(", ")}]
`}function yo(e){let t=G(e),o=e.family==="gpt";return`import torch

${Lt(e)}
MEMORY, LENGTH = ${e.memory_gb*1e9}, ${e.length}

with torch.device("meta"):  # shapes only, nothing is stored
    shared = KV_HEADS * HEAD_DIM
    matrices = [(WIDTH, WIDTH), (shared, WIDTH), (shared, WIDTH), (WIDTH, WIDTH)${o?", (HIDDEN, WIDTH)":", (HIDDEN, WIDTH), (HIDDEN, WIDTH)"}, (WIDTH, HIDDEN)]
    block = [torch.empty(shape) for shape in matrices] + ${o?`[torch.empty(rows) for rows, _ in matrices]  # weights, biases
    block += [torch.empty(WIDTH) for _ in range(4)]  # two layer norms`:"[torch.empty(WIDTH) for _ in range(2)]  # and two norms"}
    rest = [torch.empty(VOCAB, WIDTH)${e.tied?"":" for _ in range(2)"}]${e.context?` + [torch.empty(${e.context}, WIDTH)]`:""} + [torch.empty(WIDTH)${o?" for _ in range(2)":""}]
    cache = [torch.empty(2, 1, KV_HEADS, LENGTH, HEAD_DIM, dtype=${It[e.bytes_per_value]}) for _ in range(LAYERS)]
parameters = LAYERS * sum(one.numel() for one in block) + sum(one.numel() for one in rest)
weights, each = parameters * ${e.weight_bytes}, sum(one.nbytes for one in cache)
fit = max(0, int((MEMORY - weights) // each))
print(f"{parameters:,} parameters, {weights / 1e9:.2f} GB; {each / 1e9:.3f} GB a sequence; {fit} fit")
assert (parameters, each, fit) == (${t.parameters}, ${t.each}, ${t.fit})
`}function wo(e,t){let{requests:o,page:r,capacity:s,head_dim:i}=e;return`import torch

REQUESTS = [${o.map(d=>`(${d.join(", ")})`).join(", ")}]  # prompt, new tokens
PAGE, CAPACITY, HEAD_DIM = ${r}, ${s}, ${i}

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
`}function Nt(e,t,o,r){let[s,i]=[r*.3,r-2],[d,p]=[t+r/2,o+r/2],h=W("rect",{x:t+1,y:o+1,width:i,height:i,rx:1.5,class:`kv-${e}`});return e==="lost"?[h,W("path",{d:`M${d-s/1.2} ${p-s/1.2}l${1.67*s} ${1.67*s}m0 ${-1.67*s}l${-1.67*s} ${1.67*s}`,class:"kv-cross"})]:e==="read"?[h,W("circle",{cx:d,cy:p,r:r*.17,class:"kv-dot"})]:e==="kept"?[h,W("path",{d:`M${d-s} ${p}l${.7*s} ${.8*s}l${1.2*s} ${-1.6*s}`,class:"kv-tick"})]:h}var ko={lost:"computed, then thrown away",kept:"computed and kept",read:"read from the cache"},Bt=()=>n("div",{class:"kv-key"},Object.entries(ko).map(([e,t])=>n("span",{},W("svg",{width:15,height:15,"aria-hidden":"true"},Nt(e,0,0,15)),t)));function Ct({cached:e,pick:t}){let o=W("svg",{class:"kv-svg",role:"img"}),r=e?"With a cache":"Without a cache",s=n("div",{class:"kv-panel"},n("p",{class:"kv-title"},r),o);function i(d,p,h,f){let c=p+h-1,m=Math.max(9,Math.min(22,Math.floor(300/c))),[b,v]=[22,66],[x,u]=[b+c*m+3,v+h*m+3];for(let[V,E]of Object.entries({viewBox:`0 0 ${x} ${u}`,width:x,height:u}))o.setAttribute(V,E);o.setAttribute("aria-label",`${r}: a row for each of ${h} steps, a column for each of ${c} positions; the words below say what each holds`);let _=d.map((V,E)=>W("text",{transform:`translate(${b+(E+.5)*m+3.5} ${v-5}) rotate(-90)`,class:E<p?null:"quiet"},[...V.trim()].slice(0,8).join("")||"␣")),q=Array.from({length:h},(V,E)=>{let B=v+E*m,ne=Array.from({length:p+E},(C,H)=>Nt(E>f?"later":e?E===0||H===p+E-1?"kept":"read":"lost",b+H*m,B,m)),$=W("rect",{x:0,y:B,width:x,height:m,fill:"transparent",onclick:()=>t(E)});return W("g",{},W("text",{x:b-5,y:B+m/2+4,"text-anchor":"end",class:E===f?"on":"quiet"},E+1),ne,E===f&&W("rect",{x:b-1,y:B-.5,width:(p+E)*m+2,height:m+1,rx:2,class:"kv-row"}),$)});L(o,_,q)}return{node:s,draw:i}}function jt(){let e=n("ol",{class:"kv-pool","aria-label":"Pages of the pool"}),t=(s,i)=>n("span",{},n("i",{class:`kv-sample ${s}`}),i),o=n("div",{class:"kv-key"},t("used","position in use"),t("spare","held, unused"),t("free","free page"));function r({page:s,capacity:i},d,p){let h=m=>new Map((m?.running??[]).flatMap(b=>b.pages.map((v,x)=>[v,[b,x]]))),[f,c]=[h(d),h(p)];L(e,Array.from({length:i},(m,b)=>{let[v,x]=f.get(b)??[],u=v?Math.min(s,v.positions-x*s):0,_=v&&c.get(b)?.[0].request!==v.request,q=v?`page ${b}: ${F(v.request)}, ${u} of ${s}${_?", new in this step":""}`:`page ${b}: free`,V=Array.from({length:s},(E,B)=>n("i",{class:v?B<u?"used":"spare":null}));return n("li",{class:`${v?"":"free"}${_?" fresh":""}`.trim()||null,title:q},n("span",{class:"kv-top"},n("span",{},b),v?n("b",{},F(v.request)):"free"),n("span",{class:"kv-slots","aria-hidden":"true"},V))}))}return{node:n("div",{class:"kv"},e,o),draw:r}}var Wt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Gt="repeating-linear-gradient(135deg,var(--tb-warm) 0 1.5px,var(--tb-warm-soft) 1.5px 4.5px)",Rt=`
.kv{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .kv-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .kv-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.kv-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.kv-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .kv-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.kv-fields{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:flex-end;flex:1 1 100%}
.kv-fields input[type=number]{width:5.4rem}
.kv-fields .kv-wide input[type=number]{width:7.4rem}
.kv-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.kv-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 2.2rem}
.kv-sliders .tbviz-slider>label{font-size:max(12px,.88em)}
.kv-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.kv-player{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}
.kv-player .tbviz-slider{flex:1 1 11rem;grid-template-columns:auto minmax(4rem,1fr) 4.6rem}
.kv-player output{white-space:nowrap}
.kv-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tbviz .kv-head{font-weight:600}
.kv-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:540px){.kv-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.kv-panel{min-width:0}
.tbviz .kv-svg{display:block;max-width:100%;height:auto}
.kv-svg text{font:12px system-ui,sans-serif;fill:var(--tb-fg)}
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
.kv-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:max(12px,.84em)}
.kv-key svg{display:inline-block;vertical-align:-2px;margin-right:.35rem}
.kv-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .kv-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.9em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .kv-table tr{background:none;border:0}
.tbviz .kv-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.22rem .4rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:top}
.tbviz .kv-table :is(td,th):first-child{text-align:left;padding-left:0}
.tbviz .kv-table thead th{color:var(--tb-muted);font-size:max(12px,.94em)}
.tbviz .kv-table tr.on>*{font-weight:650;background:var(--tb-fill)}
.tbviz .kv-tables :is(th,td){text-align:left}
.tbviz .kv-tables :is(th,td):nth-child(3){text-align:right;padding-right:1.2rem}
.kv-table td{white-space:nowrap}
.tbviz .kv-table .kv-pages{font-family:${Wt};white-space:normal}
.kv-table b{font-weight:650;display:block;white-space:nowrap}
.kv-table span{color:var(--tb-muted);font-size:max(12px,.9em);display:block;white-space:normal}
.tbviz .kv-formula{font-family:${Wt};font-size:max(12px,.88em);overflow-wrap:anywhere}
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
.kv-sample.spare{background:${Gt}}
.kv-sample.free{border-style:dashed;border-color:var(--tb-muted)}
.kv-pool{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:0;padding:0}
.tbviz .kv-pool>li{margin:0;padding:.15rem .3rem .3rem;border:1px solid var(--tb-edge);border-radius:5px;font-size:max(12px,.82em);display:flex;flex-direction:column;gap:.15rem;min-width:3.4rem}
.tbviz .kv-pool>li.free{border-style:dashed;border-color:var(--tb-muted);color:var(--tb-muted)}
.tbviz .kv-pool>li.fresh{box-shadow:0 0 0 1.5px var(--tb-fg)}
.kv-pool b{font-weight:700}
.kv-top{display:flex;justify-content:space-between;gap:.4rem}
.kv-slots{display:flex;gap:2px}
.kv-slots>i{width:.72rem;height:.9rem;border:1px solid var(--tb-edge);border-radius:2px;display:block}
.kv-slots>.used{background:var(--tb-accent);border-color:var(--tb-accent)}
.kv-slots>.spare{background:${Gt}}
.free .kv-slots>i{border-style:dashed;border-color:var(--tb-muted)}
`;var xo="Step with the buttons, or with the arrow keys on the slider. A row is one key or one value: the numbers that a position has in one KV head of one layer. FLOPs are counted as FlopCounterMode counts them; attention counts all products, also those that the mask throws away.",Vt={"multi-head":"MHA","grouped-query":"GQA","multi-query":"MQA"},et=e=>e.reduce((t,o)=>t+o,0),ve=e=>n("thead",{},n("tr",{},e.map(t=>n("th",{scope:"col"},t)))),R=(e,t,o)=>n("tr",{class:o?"on":null},n("th",{scope:"row"},e),t.map(r=>n("td",{},r)));function $o({model:e,el:t}){let o=Ue({model:e,el:t,title:"KV cache explorer",finding:"With a cache, a step computes one row instead of all",invitation:"Press Play.",describe:xo});o.css(Rt);let r=()=>Object.fromEntries(De.map(a=>[a,e.get(a)])),s=()=>e.get("view")==="pages",i=()=>(s()?ue(r())[0].length:e.get("new_tokens"))-1,d=()=>Math.min(e.get(s()?"moment":"step"),i()),p=0,h=()=>p!==0,f=()=>{clearInterval(p),p=0,Ne.textContent="Play"},c=a=>{f(),o.set(a)},m=a=>c({[s()?"moment":"step"]:Math.max(0,Math.min(i(),a))}),b=a=>c({...re,reply:[],step:0,moment:0,...Me(a)}),v=Ke({key:Fe(t,"kvcache",e.get("link")),el:t,get:()=>({...r(),reply:e.get("reply")??[],step:e.get("step"),moment:e.get("moment")}),put:a=>{typeof a=="string"?Object.hasOwn(J,a)&&b(J[a].set):At(a)&&b(a)}});o.defer(v.cleanup);let x=Object.entries(J).map(([a,l])=>U(l.label,()=>{b(l.set),v.href(a)&&history.replaceState(null,"",v.href(a))})),u=Object.entries(Te).map(([a,l])=>U(l,()=>c({view:a}))),_=a=>{let l={...r(),...a},y=r();l.heads%l.kv_heads&&(l.kv_heads=l.heads);let k=Math.max(1,Math.min(D.hidden.high,Math.round(y.hidden/(y.heads*y.head_dim)*l.heads*l.head_dim)));c({...a,kv_heads:l.kv_heads,hidden:k})},q=a=>{let l={...r(),...a};l.reserve=Math.max(l.reserve,...l.requests.map(Z)),l.page*l.capacity<l.reserve&&(l.capacity=Math.ceil(l.reserve/l.page)),Je(l)||c({...a,reserve:l.reserve,capacity:l.capacity,moment:"requests"in a?0:e.get("moment")})},V=a=>{let l=e.get("prompt");c({prompt:[...l,...re.prompt,...Qe].slice(0,Math.max(a,1)).map((y,k)=>k<l.length?y:[...re.prompt,...Qe][k]),step:0})},E=de({label:"model",options:[],value:"",onchange:a=>a&&c({...Object.fromEntries(Oe.map(l=>[l,Q[a][l]]))})}),B=de({label:"KV heads",options:[],value:"",onchange:a=>c({kv_heads:Number(a)})}),ne=(a,l,y)=>de({label:a,options:Object.entries(l).map(([k,z])=>({value:k,label:z})).sort((k,z)=>z.value-k.value),value:"2",onchange:k=>c({[y]:Number(k)})}),$=ne("bytes of a number",xt,"bytes_per_value"),C=ne("bytes of a weight",$t,"weight_bytes"),H=Object.fromEntries([["layers",D.layers.label,a=>c({layers:a})],["heads",D.heads.label,a=>_({heads:a})],["head_dim",D.head_dim.label,a=>_({head_dim:a})],["memory_gb","memory, GB",a=>c({memory_gb:a})],["length",D.length.label,a=>c({length:a})]].map(([a,l,y])=>{let k=We({label:l,value:null,min:D[a]?.low,max:D[a]?.high,step:a==="memory_gb"?"any":1,oninput:z=>z!==null&&!Xe(a,z)&&y(z)});return k.input.addEventListener("blur",()=>k.update({value:e.get(a)})),(a==="length"||a==="memory_gb")&&k.classList.add("kv-wide"),[a,k]})),ee=(a,l,y,k,z)=>Ee({label:l,min:y,max:k,value:y,oninput:z}),j={prompt:ee("prompt","tokens of prompt",1,Ae,V),new_tokens:ee("new_tokens",D.new_tokens.label,1,D.new_tokens.high,a=>c({new_tokens:a})),page:ee("page",D.page.label,1,D.page.high,a=>q({page:a})),capacity:ee("capacity",D.capacity.label,1,D.capacity.high,a=>q({capacity:a})),reserve:ee("reserve",D.reserve.label,1,D.reserve.high,a=>q({reserve:a}))},Pe=0,tt=U("Other sequences",()=>q({requests:St(Pe+=1)})),Le={steps:[E,B,$,H.layers,H.heads,H.head_dim,j.prompt,j.new_tokens],memory:[E,B,$,C,H.memory_gb,H.length],pages:[j.page,j.capacity,j.reserve,tt]},ge=n("p",{class:"kv-note",role:"status"}),ie=n("p",{class:"kv-head"}),ot=()=>{f(),e.save_changes(),lt()},Ne=U("Play",()=>{if(h())return ot();let a=s()?"moment":"step";d()>=i()&&e.set(a,0),p=setInterval(()=>{let l=d()+1;e.set(a,l),l>=i()&&ot()},Ge()?1800:1e3),Ne.textContent="Pause"},{kind:"primary"});o.defer(()=>clearInterval(p));let ye=(a,l,y)=>U(a,l,{name:y,title:y}),at=[ye("|◂",()=>m(0),"First step"),ye("◂",()=>m(d()-1),"One step back"),ye("▸",()=>m(d()+1),"One step on"),ye("▸|",()=>m(i()),"Last step")],rt=Ee({label:"step",min:1,max:2,value:1,format:a=>`${a} of ${i()+1}`,oninput:a=>m(a-1)}),we=n("div",{class:"kv-player"},X("Steps",[Ne,...at]),rt),st=[!1,!0].map(a=>Ct({cached:a,pick:m})),ke=jt(),xe=n("div",{class:"kv-box"}),$e=n("div",{class:"kv-box"}),ze=n("div",{class:"kv"}),Be=n("div",{class:"kv"},n("div",{class:"kv-pair"},st.map(a=>a.node)),Bt()),Ft=[we,ie,Be,ze,ke.node],Kt={steps:[we,ie,Be],memory:[ze],pages:[we,ie,ke.node]};function Ut(a,l){let y=[!1,!0].map(S=>he(a,S)),k=a.prompt.length,z=e.get("reply")??[],P=[...a.prompt,...Array.from({length:a.new_tokens-1},(S,I)=>z[I]??`+${I+1}`)];st.forEach(S=>S.draw(P,k,a.new_tokens,l)),ie.textContent=l?`Decode, step ${l+1}: the newest token “${P[k+l-1].trim()}” is fed, the next one comes out`:"Prefill, step 1: the prompt goes in, the first new token comes out";let N=(S,I,K)=>{let je=y.map(te=>[te[l][I],et(te.slice(0,l+1).map(oe=>oe[I]))]);return R(S,je.map(([te,oe])=>[n("b",{title:T(te)},K(te)),n("span",{title:T(oe)},`so far ${K(oe)}`)]))},w=G(a).position,{kept:g}=y[1][l];L(xe,n("p",{class:"kv-title"},"Counted: this step, and so far"),n("table",{class:"kv-table"},ve(["counted","without","with a cache"]),n("tbody",{},N("rows of K and V computed","computed",T),N("rows read from the cache","read",T),N("multiply-adds of attention","macs",S=>se(S)),N("FLOPs of the model","flops",S=>se(S,"FLOP")),R("bytes of the cache",["none",n("b",{},A(w*g))]))));let O=y.map(S=>et(S.slice(0,l+1).map(I=>I.flops)));L($e,n("p",{class:"kv-title"},"The cache"),n("p",{class:"kv-formula"},`${be(a)} = ${T(w)} B a position`),n("p",{class:"kv-formula"},`× ${g} position${g===1?"":"s"} = ${T(w*g)} B`),n("p",{class:"kv-small"},`At the end ${k} + ${a.new_tokens} − 1 = ${k+a.new_tokens-1} positions are kept: the last new token is never fed back.`),n("p",{class:"kv-small"},`So far the model does ${Y(O[0]/O[1])} times the FLOPs without a cache. A decode step with one multiplies every matrix by a single vector: reading weights and cache takes its time, not the FLOPs.`))}function Yt(a){let l=G(a),y=a.memory_gb*1e9,k=(g,O)=>n("i",{class:g,style:{width:`${(100*Math.min(1,Math.max(0,O))).toFixed(2)}%`}}),z=l.left-l.fit*l.each,P=(g,O)=>n("span",{},n("i",{class:`kv-sample ${g}`}),O);L(ze,n("p",{class:"kv-head"},l.left<0?`The weights need ${A(l.weights)}, more than ${A(y)}`:`${T(l.fit)} sequence${l.fit===1?"":"s"} of ${T(a.length)} tokens fit${l.fit===1?"s":""} beside the weights`),n("div",{class:`kv-meter${l.left<0?" over":""}`,"aria-hidden":"true"},k("w",l.weights/y),k("c",l.left<0?0:l.fit*l.each/y)),n("div",{class:"kv-key"},P("w",`weights ${A(l.weights)}`),l.left>=0&&[P("c",`caches ${A(l.fit*l.each)}`),P("",`too little for one more ${A(z)}`)]),n("p",{class:"kv-formula"},`${be(a)} = ${T(l.position)} B a position, × ${T(a.length)} = ${A(l.each)}`),n("p",{class:"kv-small"},`${Se(l.parameters)} parameters. An upper bound: activations, workspaces, the CUDA context and fragmentation take their part, so engines leave about a tenth free. GB are 10⁹ bytes. GPT-2 has only 1,024 positions.`));let N=[...new Set([a.heads,a.kv_heads,1])],w=["KV heads","a position","a sequence","fit"];L(xe,n("p",{class:"kv-title"},"This model with other KV heads, at the same weights"),n("table",{class:"kv-table"},ve(w),n("tbody",{},N.map(g=>[g,G(a,g)]).map(([g,O])=>R(`${g} (${Vt[Ie(a.heads,g)]})`,[A(O.position),A(O.each),O.left<0?"–":T(O.fit)],g===a.kv_heads))))),L($e,n("p",{class:"kv-title"},`Published sizes, ${a.weight_bytes===.5?"½":a.weight_bytes} B a weight, ${a.bytes_per_value} B a number`),n("div",{class:"kv-scroll",tabindex:0,role:"region","aria-label":"Published models"},n("table",{class:"kv-table"},ve(["model","weights","a position","a sequence","fit"]),n("tbody",{},Object.entries(Q).slice(1).map(([g,{label:O}])=>[g,O,G({...a,...Me({model:g})})]).map(([g,O,S])=>R(O,[A(S.weights),A(S.position),A(S.each),S.left<0?"–":T(S.fit)],g===fe(a)))))))}function Qt(a,l){let[y,k]=ue(a),z=y[l],P=k[Math.min(l,k.length-1)],[N,w]=[ce(y),ce(k)],g=a.capacity-z.pages;ie.textContent=`Step ${l+1}:${Ze(z,y[l-1])||" every sequence grows by one position."}`,ke.draw(a,z,y[l-1]);let O=I=>{let K=z.running.find(Jt=>Jt.request===I),[je,te]=a.requests[I],oe=`${F(I)}: ${je} + ${te}`;return K?n("tr",{},n("th",{scope:"row"},oe),n("td",{},K.done?"done":z.started.includes(I)?"prefill":"decode"),n("td",{},K.positions),n("td",{class:"kv-pages"},K.pages.join(" "))):R(oe,[z.waiting.includes(I)?z.evicted.includes(I)?"evicted":"waits":"gone","–","–"])};L(xe,n("p",{class:"kv-title"},"Block tables: prompt + new tokens, and the pages in order"),n("table",{class:"kv-table kv-tables"},ve(["sequence","state","kept","pages"]),n("tbody",{},a.requests.map((I,K)=>O(K)))));let S=I=>`${Y(100*I)} %`;L($e,n("p",{class:"kv-title"},`Pages, and ${a.reserve} positions reserved for each, in the same memory`),n("table",{class:"kv-table"},ve(["counted","pages","reserved"]),n("tbody",{},R("running now",[z.running.length,P.running.length]),R("positions held now",[z.held,P.held]),R("of them unused",[z.held-z.used,P.held-P.used]),R("most at once",[N.most,w.most]),R("used of what is held, whole run",[S(N.used),S(w.used)]),R("steps for all",[N.steps,w.steps]),R("computed again",[N.evicted,w.evicted]))),n("p",{class:"kv-small"},`${g} page${g===1?" is":"s are"} free. One left-padded batch of all ${a.requests.length} would keep ${He(a.requests)} positions, of which ${et(a.requests.map(Z))} are tokens.`))}let _e=!1,nt=!0,Ce=0;o.defer(()=>clearTimeout(Ce));function it(){_e=!1;let a=r(),l=d(),{view:y}=a;for(let[w,g]of Object.entries(Le))for(let O of g)Le[y].includes(O)||(O.hidden=!0);Le[y].forEach(w=>w.hidden=!1),u.forEach((w,g)=>w.setAttribute("aria-pressed",String(Object.keys(Te)[g]===y)));let k=fe(a);E.update({options:[...k?[]:[{value:"",label:"own sizes"}],...Object.entries(Q).map(([w,{label:g}])=>({value:w,label:g}))],value:k??""}),B.update({options:Ot(a.heads).map(w=>({value:String(w),label:`${w} (${Vt[Ie(a.heads,w)]})`})),value:a.kv_heads}),$.update({value:a.bytes_per_value}),C.update({value:a.weight_bytes});for(let[w,g]of Object.entries(H))g.getRootNode().activeElement!==g.input&&g.update({value:a[w]});for(let[w,g]of Object.entries(j))g.update({value:w==="prompt"?a.prompt.length:a[w]});let z=Math.max(...a.requests.map(Z));j.reserve.update({min:z,value:a.reserve}),j.capacity.update({min:Math.ceil(a.reserve/a.page),value:a.capacity});let P=Tt(a);Object.keys(J).forEach((w,g)=>x[g].setAttribute("aria-pressed",String(w===P))),ge.textContent!==(J[P]?.note??"")&&(ge.textContent=J[P]?.note??""),ge.hidden=!P,rt.update({max:i()+1,value:l+1}),at.forEach((w,g)=>w.disable(g<2?l===0:l>=i()));for(let w of Ft)w.hidden=!Kt[y].includes(w);({steps:Ut,memory:Yt,pages:Qt})[y](a,l),clearTimeout(Ce);let N=()=>o.say(qt(a,e.get("step"),e.get("moment")));nt?N():h()||(Ce=setTimeout(N,250)),nt=!1}let lt=()=>{_e||queueMicrotask(()=>_e&&it()),_e=!0};for(let a of[...De,"reply","step","moment"])o.on(a,lt);return o.lay({stage:n("div",{class:"kv-box"},Be,ze,ke.node),bar:we,readout:[ge,ie],drawer:[n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Start from"),X("Presets",x)),n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Look at"),X("Look at",u)),n("div",{class:"kv-fields"},E,B,$,C,Object.values(H)),n("div",{class:"kv-sliders"},Object.values(j)),n("div",{class:"kv-bar"},tt,pe("Copy as PyTorch",()=>Pt(r(),e.get("step"),d())),v),n("div",{class:"kv-pair"},xe,$e)]}),it(),o.cleanup}var ma={render:$o};export{ma as default};
