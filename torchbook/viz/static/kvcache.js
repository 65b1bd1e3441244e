var eo="http://www.w3.org/2000/svg",to=Math.random().toString(36).slice(2,8),oo=0,ae=(e="tb")=>`${e}-${to}-${oo+=1}`,n=(e,t,...o)=>ct(document.createElement(e),t,o),W=(e,t,...o)=>ct(document.createElementNS(eo,e),t,o);function ct(e,t,o){for(let[a,s]of Object.entries(t??{}))s===!1||s===null||s===void 0||(typeof s=="function"&&a.startsWith("on")?e.addEventListener(a.slice(2),s):a==="style"&&typeof s=="object"?ao(e,s):e.setAttribute(a,s===!0?"":s));return e.append(...dt(o)),e}function ao(e,t){for(let[o,a]of Object.entries(t))o.startsWith("--")?e.style.setProperty(o,a):e.style[o]=a}var dt=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1&&t!=="");function L(e,...t){return e.replaceChildren(...dt(t)),e}function U(e,t,o={}){let a=n("button",{type:"button",class:["tbviz-button",o.kind&&`tbviz-${o.kind}`].filter(Boolean).join(" "),title:o.title,"aria-label":o.name,onclick:s=>a.getAttribute("aria-disabled")!=="true"&&t(s)},e);return a.disable=s=>s?a.setAttribute("aria-disabled","true"):a.removeAttribute("aria-disabled"),a.disable(!!o.disabled),a}function Se({label:e,min:t,max:o,step:a=1,value:s,oninput:i,format:d=String,title:m}){let u=ae(),f=n("output",{for:u}),c=n("input",{type:"range",id:u,oninput:()=>{h(),i(Number(c.value))}}),h=()=>{let v=d(Number(c.value));f.textContent=v,c.setAttribute("aria-valuetext",v)},b=n("div",{class:"tbviz-slider",title:m},n("label",{for:u},e),c,f);return b.input=c,b.update=v=>{for(let y of["min","max","step"])v[y]!==void 0&&(c[y]=v[y]);v.value!==void 0&&(c.value=v.value),c.disabled=Number(c.min)>=Number(c.max),h()},b.update({min:t,max:o,step:a,value:s}),b}function de({label:e,options:t,value:o,onchange:a,title:s}){let i=ae(),d=n("select",{id:i,onchange:()=>a(d.value)}),m=n("div",{class:"tbviz-field",title:s},n("label",{for:i},e),d);return m.input=d,m.update=u=>{if(u.options){let f=u.options.map(c=>typeof c=="object"?c:{label:String(c),value:String(c)});L(d,f.map(c=>n("option",{value:c.value},c.label)))}u.value!==void 0&&(d.value=String(u.value))},m.update({options:t,value:o}),m}function Ge({label:e,value:t,min:o,max:a,placeholder:s,oninput:i,onenter:d,step:m=1,title:u}){let f=ae(),c=n("input",{type:"number",id:f,min:o,max:a,step:m,placeholder:s,inputmode:"numeric",oninput:()=>i(c.value.trim()===""?null:Number(c.value)),onkeydown:b=>b.key==="Enter"&&d?.()}),h=n("div",{class:"tbviz-field",title:u},n("label",{for:f},e),c);return h.input=c,h.update=b=>{for(let v of["min","max"])b[v]!==void 0&&(c[v]=b[v]);b.value!==void 0&&c.value!==String(b.value??"")&&(c.value=b.value??"")},h.update({value:t}),h}var pt={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function X(e,t){let o=n("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":e},t),a=()=>[...o.querySelectorAll("button, a[href]")],s=i=>a().forEach(d=>d.tabIndex=d===i?0:-1);return o.addEventListener("focusin",i=>s(i.target.closest("button, a[href]"))),o.addEventListener("keydown",i=>{let d=a(),m=d.indexOf(i.target);if(m<0)return;let u=-1;i.key in pt?u=(m+pt[i.key]+d.length)%d.length:i.key==="Home"?u=0:i.key==="End"&&(u=d.length-1),!(u<0)&&(i.preventDefault(),d[u].focus())}),s(a()[0]),o.reset=()=>s(a().find(i=>i.tabIndex===0)??a()[0]),o}async function mt(e){try{return await navigator.clipboard.writeText(e),!0}catch{return ro(e)}}function ro(e){let t=document.activeElement,o=n("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});o.value=e,document.body.append(o),o.select();let a=!1;try{a=document.execCommand("copy")}catch{a=!1}return o.remove(),t?.focus?.(),a}function pe(e,t,o={}){let a=n("span",{class:"tbviz-status",role:"status"}),s=0,i=m=>{clearTimeout(s),a.textContent=m,s=setTimeout(()=>a.textContent="",2500)},d=U(e,async()=>{let m=t();i(await mt(m)?"Copied":`Copying is not allowed here. Copy this: ${m}`)},o);return n("span",{class:"tbviz-copy"},d,a)}var Re=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;var so=e=>{let t=new TextEncoder().encode(JSON.stringify(e));return btoa(String.fromCharCode(...t)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},no=e=>{let t=atob(e.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(t,o=>o.charCodeAt(0))))},me=(e,t)=>typeof t=="string"&&/^[\w-]+$/.test(t)?`#tbviz-${e}:${t}`:`#tbviz-${e}=${so(t)}`;function ht(e,t){let o;try{o=decodeURIComponent(t)}catch{return}for(let[a,s]of[[":",i=>i],["=",no]]){let i=`#tbviz-${e}${a}`;if(o.startsWith(i))try{return s(o.slice(i.length))}catch{return}}}var Ve=e=>e.closest(".viz-mount");function Fe(e,t,o){let a=Ve(e);return o||!a?o||t:`${t}-${[...document.querySelectorAll(".viz-mount")].indexOf(a)+1}`}var ut=new WeakMap,ft=(e,t)=>ut.set(e,t);function Ke({key:e,get:t,put:o,el:a,label:s="Copy link"}){let i=!!Ve(a),d=ut.get(a),m=p=>`${location.href.split("#")[0]}${me(e,p)}`,u=i?pe(s,()=>m(t()),{title:"A link that opens this figure as it is now"}):n("span",{hidden:!0}),[f,c,h]=[void 0,"",0],b=()=>{let p=ht(e,location.hash);p===void 0&&!c||(o(p===void 0?f:p),clearTimeout(h),c=p===void 0?"":me(e,t()),p!==void 0&&a.scrollIntoView({block:a.clientHeight>innerHeight?"start":"nearest"}))},v=()=>{let p=t(),$=me(e,p);if(!($===c||!c&&$===me(e,f))){if(typeof p=="string")history.pushState(null,"",$);else if(c)history.replaceState(null,"",$);else return;c=$}},y=()=>{clearTimeout(h),h=setTimeout(v,250)};return u.cleanup=()=>{clearTimeout(h),removeEventListener("hashchange",b),d?.off("change",y)},u.start=()=>{i&&(f=t(),addEventListener("hashchange",b),b(),d?.on("change",y))},queueMicrotask(u.start),u}var bt=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,vt=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,gt=(...e)=>e.map(t=>`${t} .tbviz`).join(","),yt=`
.tbviz{${bt}}
@media (prefers-color-scheme:dark){.tbviz{${vt}}}
${gt("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${bt}}
${gt("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${vt}}
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
`;var wt=3;function Ue({model:e,el:t,title:o,finding:a,invitation:s,describe:i}){let d=[];ft(t,e);let m=ae(),u=n("div",{class:"tbviz-stage"}),f=n("div",{class:"tbviz-bar"}),c=n("div",{class:"tbviz-readout"}),h=n("div",{class:"tbviz-rest"}),b=n("p",{class:"tbviz-words","aria-live":"polite"}),v=n("p",{class:"tbviz-help",id:m}),y=n("details",{class:"tbviz-drawer"},n("summary",{},"Settings and numbers"),h,v),p=n("style",{},yt),$=n("div",{class:"tbviz",role:"group","aria-label":o,"aria-describedby":typeof i=="string"?m:null},p,n("div",{class:"tbviz-head"},n("p",{class:"tbviz-finding"},a),n("p",{class:"tbviz-invitation"},s)),u,f,c,b,y),q=({presets:z=[],...C})=>{let H=z.slice(wt),ee=[[u,[C.stage]],[f,[z.length>0&&X("Presets",z.slice(0,wt)),C.bar]],[c,[C.readout]],[h,[H.length>0&&n("div",{},n("p",{class:"tbviz-title"},"Start from"),X("More presets",H)),C.drawer]]];for(let[j,Le]of ee)L(j,Le.flat()),j.hidden=!j.childNodes.length};typeof i=="string"?v.textContent=i:v.hidden=!0,$.addEventListener("keydown",z=>z.stopPropagation());let V=z=>{for(let[C,H]of Object.entries(z))e.set(C,H);e.save_changes()},E=z=>{b.textContent!==z&&(b.textContent=z),e.get("words")!==z&&V({words:z})},B=(z,C)=>{let H=()=>C(e.get(z));e.on(`change:${z}`,H),d.push(()=>e.off(`change:${z}`,H))},ne=()=>{for(;d.length;)d.pop()();$.remove()};return t.append($),typeof i=="function"&&E(i()),{root:$,stage:u,words:b,help:v,lay:q,say:E,on:B,set:V,defer:z=>d.push(z),cleanup:ne,css:z=>p.append(z)}}function Y(e,t=3){if(e===0)return"0";let o=e.toExponential(t-1),a=Number(o.slice(o.indexOf("e")+1));return a>=t?String(Math.round(e)):Number(o).toFixed(Math.max(0,t-1-a))}var io=[[1e12," trillion"],[1e9," billion"],[1e6," million"]];function Ae(e){let[t,o]=io.find(([a])=>e>=a)??[1,""];return o?`${Number((e/t).toPrecision(6))}${o}`:String(e)}var lo=[[1e12,"TB"],[1e9,"GB"],[1e6,"MB"],[1e3,"kB"],[0,"B"]];function A(e){let[t,o]=lo.find(([a])=>e>=a);return`${Y(t?e/t:e)} ${o}`}var le={fields:{layers:{label:"layers",value:4,low:1,high:128},heads:{label:"query heads",value:4,low:1,high:128},kv_heads:{label:"KV heads",value:4,low:1,high:128},head_dim:{label:"head_dim",value:32,low:1,high:256},hidden:{label:"hidden",value:512,low:1,high:131072},vocab:{label:"vocabulary",value:65,low:1,high:3e5},context:{label:"learned positions",value:128,low:0,high:1e6},new_tokens:{label:"new tokens",value:8,low:1,high:16},length:{label:"tokens of a sequence",value:128,low:1,high:1e6},page:{label:"positions in a page",value:4,low:1,high:16},capacity:{label:"pages",value:12,low:1,high:48},reserve:{label:"reserved for each",value:16,low:1,high:32}},prompt:["A","cache","keeps","what","was","computed"],more:["once","and","is","read","again","at","every","later","step","here"],longest:16,requests:[[5,6],[3,8],[7,4],[2,7],[6,3],[4,5],[8,4],[3,6]],most:8,bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (fp8)"},weight_bytes:{"4":"4 (fp32)","2":"2 (bf16, fp16)","1":"1 (int8, fp8)","0.5":"½ (4 bits)"},views:{steps:"Step by step",memory:"Memory",pages:"Pages"},models:{small:{label:"Small GPT",family:"gpt",layers:4,heads:4,kv_heads:4,head_dim:32,hidden:512,vocab:65,context:128,tied:!0},gpt2:{label:"GPT-2",family:"gpt",layers:12,heads:12,kv_heads:12,head_dim:64,hidden:3072,vocab:50257,context:1024,tied:!0},"llama-2-7b":{label:"Llama 2 7B",family:"llama",layers:32,heads:32,kv_heads:32,head_dim:128,hidden:11008,vocab:32e3,context:0,tied:!1},"llama-3-8b":{label:"Llama 3 8B",family:"llama",layers:32,heads:32,kv_heads:8,head_dim:128,hidden:14336,vocab:128256,context:0,tied:!1},"llama-3-70b":{label:"Llama 3 70B",family:"llama",layers:80,heads:64,kv_heads:8,head_dim:128,hidden:28672,vocab:128256,context:0,tied:!1}},presets:{steps:{label:"cache or not",note:"The prefill costs the same both ways. Every later step without a cache is a longer prefill; with one it is a single position, whose keys and values join those that are kept.",set:{}},gqa:{label:"2 KV heads",note:"Grouped queries: two query heads share one head of keys and values. The cache halves; the attention's multiply-adds stay, since every query head still meets every key.",set:{kv_heads:2}},mqa:{label:"1 KV head",note:"Multi-query attention: all query heads share one head of keys and values. The cache is a quarter of that with four.",set:{kv_heads:1}},gpt2:{label:"GPT-2",note:"GPT-2 with 124 million parameters: its whole context of 1,024 tokens costs 37.7 MB of cache, less than its weights.",set:{view:"memory",model:"gpt2",length:1024,memory_gb:24}},"llama-2-7b":{label:"Llama 2 7B",note:"Each of 32 query heads has keys and values of its own: half a megabyte for a token. Beside the weights, 24 GB hold four sequences of 4,096 tokens.",set:{view:"memory",model:"llama-2-7b",length:4096,memory_gb:24}},"llama-3-8b":{label:"Llama 3 8B",note:"A larger model, but four query heads share a head of keys and values: a token costs a quarter of that in Llama 2 7B.",set:{view:"memory",model:"llama-3-8b",length:4096,memory_gb:24}},"llama-3-70b":{label:"Llama 3 70B",note:"70.6 billion parameters of two bytes need two GPUs of 80 GB, here counted as one memory; what they leave holds seven sequences of 8,192 tokens.",set:{view:"memory",model:"llama-3-70b",length:8192,memory_gb:160}},pages:{label:"pages",note:"Eight sequences share twelve pages. Reservations of 16 positions in the same memory admit three at a time and leave most of it empty.",set:{view:"pages"}},"large-pages":{label:"larger pages",note:"The same memory in pages of 8: a shorter block table, and more unused places in the last page of each sequence.",set:{view:"pages",page:8,capacity:6}},tight:{label:"too few pages",note:"Sequences are admitted when their prompt fits. When they grow and no page is free, the one admitted last gives its pages back and is computed again later.",set:{view:"pages",capacity:8}}}};var{fields:D,models:Q,presets:J,views:Oe,longest:Te,most:po,more:Qe}=le,De=["family","layers","heads","kv_heads","head_dim","hidden","vocab","context","tied"],zt=le.bytes,_t=le.weight_bytes,Et=e=>Object.fromEntries(De.map(t=>[t,Q[e][t]])),re={view:"steps",...Object.fromEntries(Object.entries(D).map(([e,{value:t}])=>[e,t])),...Et("small"),prompt:le.prompt,bytes_per_value:2,weight_bytes:2,memory_gb:24,requests:le.requests},Me=Object.keys(re);function He({model:e,...t}){return e?{...Et(e),...t}:t}var mo=(e,t)=>Math.floor((e+t-1)/t),he=e=>e.reduce((t,o)=>t+o,0),Z=([e,t])=>e+t-1,kt=mo,qe=e=>e.length*Z([0,1].map(t=>Math.max(...e.map(o=>o[t]))));function ho({layers:e,heads:t,kv_heads:o,head_dim:a,hidden:s,vocab:i,context:d,family:m,tied:u}){let[f,c,h]=[t*a,o*a,m==="gpt"],b=2*f*(f+c)+(h?2:3)*f*s+(h?7*f+2*c+s:2*f);return e*b+(i*(u?1:2)+d+(h?2:1))*f}var St=(e,{layers:t,kv_heads:o})=>2*t*o*e,uo=(e,t,o=t.kv_heads)=>St(e,{...t,kv_heads:o})*t.head_dim*t.bytes_per_value,At=(e,t,{layers:o,heads:a,head_dim:s})=>2*o*a*s*e*t;function fo(e,t,o){let{layers:a,heads:s,kv_heads:i,head_dim:d,hidden:m,vocab:u,family:f}=e,c=s*d,h=2*c*(c+i*d)+(f==="gpt"?2:3)*c*m;return 2*(a*h*t+At(t,o,e)+c*u*t)}function ue(e,t){let o=e.prompt.length;return Array.from({length:e.new_tokens},(a,s)=>{let i=o+s,d=s===0||!t?i:1,m=St(1,e);return{step:s,phase:s?"decode":"prefill",new:d,total:i,computed:m*d,read:m*(i-d),macs:At(d,i,e),flops:fo(e,d,i),kept:t?i:0}})}function G(e,t=e.kv_heads){let o=ho(e),a=o*e.weight_bytes,s=uo(1,e,t),i=s*e.length,d=e.memory_gb*1e9-a;return{parameters:o,weights:a,position:s,each:i,left:d,fit:Math.max(0,Math.floor(d/i))}}function xt(e,t,o){let a=e.map(([f,c],h)=>({number:h,prompt:f,new:c,generated:0,positions:0,pages:[]})),s=[],i=Array.from({length:o},(f,c)=>c),d=()=>i.shift(),m=[],u=f=>{s.splice(s.indexOf(f),1),i.push(...f.pages),i.sort((c,h)=>c-h),f.pages=[]};for(;a.length||s.some(f=>f.generated<f.new);){let f=s.filter(p=>p.generated===p.new);f.forEach(u);let c=[];for(let p of[...s]){for(;!c.includes(p)&&p.positions===p.pages.length*t&&!i.length;)c.push(s.at(-1)),u(s.at(-1));c.includes(p)||(p.positions===p.pages.length*t&&p.pages.push(d()),p.positions+=1,p.generated+=1)}for(let p of c)a.unshift(p);let h=[];for(;!c.length&&a.length;){let[p]=a,$=p.prompt+p.generated;if(kt($,t)>i.length)break;p.pages=Array.from({length:kt($,t)},d),p.positions=$,p.generated+=1,s.push(a.shift()),h.push(p)}let b=s.map(p=>({request:p.number,positions:p.positions,generated:p.generated,pages:[...p.pages],done:p.generated===p.new})),v=he(b.map(p=>p.pages.length)),y=p=>p.map($=>$.number);m.push({running:b,waiting:y(a),ended:y(f),started:y(h),evicted:y(c),used:he(b.map(p=>p.positions)),held:v*t,pages:v})}return m}var ce=e=>({steps:e.length,most:Math.max(...e.map(t=>t.running.length)),used:he(e.map(t=>t.used))/he(e.map(t=>t.held)),evicted:he(e.map(t=>t.evicted.length))}),fe=({requests:e,page:t,capacity:o,reserve:a})=>[xt(e,t,o),xt(e,a,Math.floor(t*o/a))];function Tt(e){let t=(e*7919+17)%65537,o=(a,s)=>(t=(t*75+74)%65537,a+t%(s-a+1));return Array.from({length:6},()=>[o(2,9),o(2,8)])}function Je(e){let{heads:t,kv_heads:o,requests:a,reserve:s,page:i,capacity:d}=e;if(t%o)return`${t} heads cannot share ${o} heads of keys and values equally`;let m=Math.max(...a.map(Z));return s<m?`the longest sequence needs ${m} positions, but reserve is ${s}`:i*d<s?`${d} pages of ${i} hold ${i*d} positions, but reserve is ${s}`:""}var $t=e=>Array.isArray(e)&&e.every(t=>typeof t=="string"),Ye={view:e=>Object.hasOwn(Oe,e),family:e=>e==="gpt"||e==="llama",tied:e=>typeof e=="boolean",prompt:e=>$t(e)&&e.length>=1&&e.length<=Te,reply:e=>$t(e)&&e.length<=Te,bytes_per_value:e=>[4,2,1].includes(e),weight_bytes:e=>[4,2,1,.5].includes(e),memory_gb:e=>Number.isFinite(e)&&e>0&&e<=1e5,requests:e=>Array.isArray(e)&&e.length>=1&&e.length<=po&&e.every(t=>Array.isArray(t)&&t.length===2&&t.every(o=>Number.isInteger(o)&&o>=1&&o<=32)),step:e=>Number.isInteger(e)&&e>=0,moment:e=>Number.isInteger(e)&&e>=0};function Xe(e,t){if(Ye[e])return Ye[e](t)?"":"not possible";let{low:o,high:a}=D[e];return Number.isInteger(t)&&t>=o&&t<=a?"":`a whole number from ${o} to ${a}`}function Ot(e){return!e||typeof e!="object"||Array.isArray(e)||!Object.entries(e).every(([t,o])=>(Object.hasOwn(D,t)||Object.hasOwn(Ye,t))&&!Xe(t,o))?!1:!Je({...re,...e})}var bo=(e,t)=>JSON.stringify(e)===JSON.stringify(t),Dt=e=>Object.keys(J).find(t=>{let o={...re,...He(J[t].set)};return Me.every(a=>bo(o[a],e[a]))}),be=e=>Object.keys(Q).find(t=>De.every(o=>o==="kv_heads"||Q[t][o]===e[o])),Mt=e=>Array.from({length:e},(t,o)=>e-o).filter(t=>e%t===0);var M=e=>e===1?"":"s",Ie=e=>e.reduce((t,o)=>t+o,0),T=e=>e.toLocaleString("en-US"),Ht=e=>e.length>1?`${e.slice(0,-1).join(", ")} and ${e.at(-1)}`:e[0],F=e=>String.fromCharCode(65+e);function se(e,t=""){for(let[o,a]of[[1e15,"P"],[1e12,"T"],[1e9,"G"],[1e6,"M"],[1e3,"k"]])if(e>=o)return`${Y(e/o)} ${a}${t}`;return`${e} ${t}`.trim()}function qt(e){let t=be(e);return t?Q[t].label:`${e.layers} layer${M(e.layers)} of width ${e.heads*e.head_dim}`}var Pe=(e,t)=>t===e?"multi-head":t===1?"multi-query":"grouped-query",It=({heads:e,kv_heads:t})=>`${Pe(e,t)} attention, ${e} query head${M(e)} and ${t} KV head${M(t)}`,ve=({layers:e,kv_heads:t,head_dim:o,bytes_per_value:a})=>`2 × ${e} layer${M(e)} × ${t} KV head${M(t)} × ${o} × ${a} B`;function Pt(e,t,o){return e.view==="pages"?yo(e,o):e.view==="memory"?go(e):vo(e,t)}function vo(e,t){let[o,a]=[e.prompt.length,e.new_tokens],s=Math.min(t,a-1),i=[!1,!0].map(y=>ue(e,y)),d=o+s,m=s?`decode: without a cache ${d} positions go through the model again, with one only the newest, and the keys and values of ${d-1} are read`:`prefill: ${d} position${M(d)} go${d===1?"es":""} through the model, with a cache or without`,u=y=>i.map(p=>Ie(p.slice(0,s+1).map($=>$[y]))),[f,c,h]=["computed","macs","flops"].map(u),{kept:b}=i[1][s],{position:v}=G(e);return`${qt(e)}: ${It(e)}. ${o} token${M(o)} of prompt and ${a} new token${M(a)} take ${a} step${M(a)}. Step ${s+1} of ${a}, ${m}. So far: ${T(f[0])} rows of keys and values computed without a cache, ${T(f[1])} with one and ${T(u("read")[1])} read from it; ${se(c[0])} and ${se(c[1])} multiply-adds of attention; ${se(h[0],"FLOP")} and ${se(h[1],"FLOP")} of the whole model, ${Y(h[0]/h[1])} times as many. The cache holds ${b} position${M(b)} of ${ve(e)} = ${A(v)}: ${A(v*b)}.`}function go(e){let t=G(e),o=A(e.memory_gb*1e9),a=t.left<0?`The weights do not fit into ${o}.`:`Of ${o} ${A(t.left)} are left: ${T(t.fit)} such sequence${M(t.fit)} fit${t.fit===1?"s":""}. With ${e.heads} KV heads it would be ${T(G(e,e.heads).fit)}, with one ${T(G(e,1).fit)}.`,s=It(e),i=e.context&&e.length>e.context?` But it has only ${T(e.context)} learned positions.`:"";return`${qt(e)}: ${Ae(t.parameters)} parameters of ${e.weight_bytes} bytes are ${A(t.weights)}. ${s[0].toUpperCase()}${s.slice(1)}: a position costs ${ve(e)} = ${A(t.position)}, a sequence of ${T(e.length)} tokens ${A(t.each)}.${i} ${a}`}function Ze(e,t){let o=e.ended.map(a=>{let{length:s}=t.running.find(i=>i.request===a).pages;return`${F(a)} has ended and returns ${s} page${M(s)}`});return o.push(...e.evicted.map(a=>`${F(a)} gives its pages back and will be computed again`)),e.started.length&&o.push(`${Ht(e.started.map(F))} start${e.started.length===1?"s":""}`),o.length?` ${o.join(", ")}.`:""}function yo(e,t){let[o,a]=fe(e),s=Math.min(t,o.length-1),i=o[s],d=a[Math.min(s,a.length-1)],{capacity:m,page:u,requests:f,reserve:c}=e,h=f.length,b=i.running.map(q=>`${F(q.request)} keeps ${q.positions} position${M(q.positions)} in page${M(q.pages.length)} ${q.pages.join(", ")}${q.done?" and is done":""}`).join("; "),v=i.waiting.length?` ${Ht(i.waiting.map(F))} wait${i.waiting.length===1?"s":""}.`:"",[y,p]=[ce(o),ce(a)],$=m-i.pages;return`${h} sequence${M(h)}, ${m} page${M(m)} of ${u} position${M(u)}. Step ${s+1} of ${o.length}.${Ze(i,o[s-1])} Block tables: ${b}.${v} Of ${i.held} positions in ${i.pages} held page${M(i.pages)} ${i.used} are used, ${i.held-i.used} are not; ${$} page${M($)} ${$===1?"is":"are"} free. Reserving ${c} positions for each in the same memory holds ${d.held} in this step and uses ${d.used}. The whole run: ${y.steps} steps, at most ${y.most} at once, ${Y(100*y.used)} % of what is held used${y.evicted?`, ${y.evicted} computed again`:""}; with reservations ${p.steps} steps, ${p.most} at once, ${Y(100*p.used)} %. One left-padded batch of all would keep ${qe(f)} positions, of which ${Ie(f.map(Z))} are tokens.`}var Lt={4:"torch.float32",2:"torch.bfloat16",1:"torch.float8_e4m3fn"};function Nt(e,t,o){return{steps:wo,memory:ko,pages:xo}[e.view](e,e.view==="pages"?o:t)}var Bt=e=>`LAYERS, HEADS, KV_HEADS, HEAD_DIM = ${e.layers}, ${e.heads}, ${e.kv_heads}, ${e.head_dim}
HIDDEN, VOCAB = ${e.hidden}, ${e.vocab}
WIDTH = HEADS * HEAD_DIM`;function wo(e){let t=e.family==="llama",o=[!1,!0].map(s=>ue(e,s)).map(s=>[Ie(s.map(i=>i.computed)),Ie(s.map(i=>i.flops)),s.at(-1).kept*G(e).position]),a=s=>`(${s.join(", ")})`;return`import torch
from torch.nn.functional import ${t?"silu":"gelu"}
from torch.utils.flop_counter import FlopCounterMode

${Bt(e)}
PROMPT, NEW, KEPT = ${e.prompt.length}, ${e.new_tokens}, ${Lt[e.bytes_per_value]}


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
`}function ko(e){let t=G(e),o=e.family==="gpt";return`import torch

${Bt(e)}
MEMORY, LENGTH = ${e.memory_gb*1e9}, ${e.length}

with torch.device("meta"):  # shapes only, nothing is stored
    shared = KV_HEADS * HEAD_DIM
    matrices = [(WIDTH, WIDTH), (shared, WIDTH), (shared, WIDTH), (WIDTH, WIDTH)${o?", (HIDDEN, WIDTH)":", (HIDDEN, WIDTH), (HIDDEN, WIDTH)"}, (WIDTH, HIDDEN)]
    block = [torch.empty(shape) for shape in matrices] + ${o?`[torch.empty(rows) for rows, _ in matrices]  # weights, biases
    block += [torch.empty(WIDTH) for _ in range(4)]  # two layer norms`:"[torch.empty(WIDTH) for _ in range(2)]  # and two norms"}
    rest = [torch.empty(VOCAB, WIDTH)${e.tied?"":" for _ in range(2)"}]${e.context?` + [torch.empty(${e.context}, WIDTH)]`:""} + [torch.empty(WIDTH)${o?" for _ in range(2)":""}]
    cache = [torch.empty(2, 1, KV_HEADS, LENGTH, HEAD_DIM, dtype=${Lt[e.bytes_per_value]}) for _ in range(LAYERS)]
parameters = LAYERS * sum(one.numel() for one in block) + sum(one.numel() for one in rest)
weights, each = parameters * ${e.weight_bytes}, sum(one.nbytes for one in cache)
fit = max(0, int((MEMORY - weights) // each))
print(f"{parameters:,} parameters, {weights / 1e9:.2f} GB; {each / 1e9:.3f} GB a sequence; {fit} fit")
assert (parameters, each, fit) == (${t.parameters}, ${t.each}, ${t.fit})
`}function xo(e,t){let{requests:o,page:a,capacity:s,head_dim:i}=e;return`import torch

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
`}function Ct(e,t,o,a){let[s,i]=[a*.3,a-2],[d,m]=[t+a/2,o+a/2],u=W("rect",{x:t+1,y:o+1,width:i,height:i,rx:1.5,class:`kv-${e}`});return e==="lost"?[u,W("path",{d:`M${d-s/1.2} ${m-s/1.2}l${1.67*s} ${1.67*s}m0 ${-1.67*s}l${-1.67*s} ${1.67*s}`,class:"kv-cross"})]:e==="read"?[u,W("circle",{cx:d,cy:m,r:a*.17,class:"kv-dot"})]:e==="kept"?[u,W("path",{d:`M${d-s} ${m}l${.7*s} ${.8*s}l${1.2*s} ${-1.6*s}`,class:"kv-tick"})]:u}var $o={lost:"computed, then thrown away",kept:"computed and kept",read:"read from the cache"},jt=()=>n("div",{class:"kv-key"},Object.entries($o).map(([e,t])=>n("span",{},W("svg",{width:15,height:15,"aria-hidden":"true"},Ct(e,0,0,15)),t)));function Wt({cached:e,pick:t}){let o=W("svg",{class:"kv-svg",role:"img"}),a=e?"With a cache":"Without a cache",s=n("div",{class:"kv-panel"},n("p",{class:"kv-title"},a),o);function i(d,m,u,f){let c=m+u-1,h=Math.max(9,Math.min(22,Math.floor(300/c))),[b,v]=[22,66],[y,p]=[b+c*h+3,v+u*h+3];for(let[V,E]of Object.entries({viewBox:`0 0 ${y} ${p}`,width:y,height:p}))o.setAttribute(V,E);o.setAttribute("aria-label",`${a}: a row for each of ${u} steps, a column for each of ${c} positions; the words below say what each holds`);let $=d.map((V,E)=>W("text",{transform:`translate(${b+(E+.5)*h+3.5} ${v-5}) rotate(-90)`,class:E<m?null:"quiet"},[...V.trim()].slice(0,8).join("")||"␣")),q=Array.from({length:u},(V,E)=>{let B=v+E*h,ne=Array.from({length:m+E},(C,H)=>Ct(E>f?"later":e?E===0||H===m+E-1?"kept":"read":"lost",b+H*h,B,h)),z=W("rect",{x:0,y:B,width:y,height:h,fill:"transparent",onclick:()=>t(E)});return W("g",{},W("text",{x:b-5,y:B+h/2+4,"text-anchor":"end",class:E===f?"on":"quiet"},E+1),ne,E===f&&W("rect",{x:b-1,y:B-.5,width:(m+E)*h+2,height:h+1,rx:2,class:"kv-row"}),z)});L(o,$,q)}return{node:s,draw:i}}function Gt(){let e=n("ol",{class:"kv-pool","aria-label":"Pages of the pool"}),t=(s,i)=>n("span",{},n("i",{class:`kv-sample ${s}`}),i),o=n("div",{class:"kv-key"},t("used","position in use"),t("spare","held, unused"),t("free","free page"));function a({page:s,capacity:i},d,m){let u=h=>new Map((h?.running??[]).flatMap(b=>b.pages.map((v,y)=>[v,[b,y]]))),[f,c]=[u(d),u(m)];L(e,Array.from({length:i},(h,b)=>{let[v,y]=f.get(b)??[],p=v?Math.min(s,v.positions-y*s):0,$=v&&c.get(b)?.[0].request!==v.request,q=v?`page ${b}: ${F(v.request)}, ${p} of ${s}${$?", new in this step":""}`:`page ${b}: free`,V=Array.from({length:s},(E,B)=>n("i",{class:v?B<p?"used":"spare":null}));return n("li",{class:`${v?"":"free"}${$?" fresh":""}`.trim()||null,title:q},n("span",{class:"kv-top"},n("span",{},b),v?n("b",{},F(v.request)):"free"),n("span",{class:"kv-slots","aria-hidden":"true"},V))}))}return{node:n("div",{class:"kv"},e,o),draw:a}}var Rt='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Vt="repeating-linear-gradient(135deg,var(--tb-warm) 0 1.5px,var(--tb-warm-soft) 1.5px 4.5px)",Ft=`
.kv{display:grid;grid-template-columns:minmax(0,1fr);gap:.45rem}
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
.kv-box{border:1px solid var(--tb-line);border-radius:8px;padding:.5rem .7rem;display:flex;flex-direction:column;gap:.4rem;min-width:0}
.tbviz .kv-head{font-weight:600}
.kv-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:540px){.kv-pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.kv-panel{min-width:0}
.tbviz .kv-svg{display:block;max-width:100%;height:auto}
.kv-svg text{font:13px system-ui,sans-serif;fill:var(--tb-fg)}
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
.tbviz .kv-table .kv-pages{font-family:${Rt};white-space:normal}
.kv-table b{font-weight:650;display:block;white-space:nowrap}
.kv-table span{color:var(--tb-muted);font-size:max(12px,.9em);display:block;white-space:normal}
.tbviz .kv-formula{font-family:${Rt};font-size:max(12px,.88em);overflow-wrap:anywhere}
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
.kv-sample.spare{background:${Vt}}
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
.kv-slots>.spare{background:${Vt}}
.free .kv-slots>i{border-style:dashed;border-color:var(--tb-muted)}
`;var zo="Step with the buttons, or with the arrow keys on the slider. A row is one key or one value: the numbers that a position has in one KV head of one layer. FLOPs are counted as FlopCounterMode counts them; attention counts all products, also those that the mask throws away.",Kt={"multi-head":"MHA","grouped-query":"GQA","multi-query":"MQA"},et=e=>e.reduce((t,o)=>t+o,0),ge=e=>n("thead",{},n("tr",{},e.map(t=>n("th",{scope:"col"},t)))),R=(e,t,o)=>n("tr",{class:o?"on":null},n("th",{scope:"row"},e),t.map(a=>n("td",{},a)));function _o({model:e,el:t}){let o=Ue({model:e,el:t,title:"KV cache explorer",finding:"With a cache, a step computes one row instead of all",invitation:"Press Play.",describe:zo});o.css(Ft);let a=()=>Object.fromEntries(Me.map(r=>[r,e.get(r)])),s=()=>e.get("view")==="pages",i=()=>(s()?fe(a())[0].length:e.get("new_tokens"))-1,d=()=>Math.min(e.get(s()?"moment":"step"),i()),m=0,u=()=>m!==0,f=()=>{clearInterval(m),m=0,Be.textContent="Play"},c=r=>{f(),o.set(r)},h=r=>c({[s()?"moment":"step"]:Math.max(0,Math.min(i(),r))}),b=r=>c({...re,reply:[],step:0,moment:0,...He(r)}),v=Ke({key:Fe(t,"kvcache",e.get("link")),el:t,get:()=>({...a(),reply:e.get("reply")??[],step:e.get("step"),moment:e.get("moment")}),put:r=>{typeof r=="string"?Object.hasOwn(J,r)&&b(J[r].set):Ot(r)&&b(r)}});o.defer(v.cleanup);let y=Object.entries(J).map(([r,l])=>U(l.label,()=>{b(l.set)})),p=Object.entries(Oe).map(([r,l])=>U(l,()=>c({view:r}))),$=r=>{let l={...a(),...r},w=a();l.heads%l.kv_heads&&(l.kv_heads=l.heads);let x=Math.max(1,Math.min(D.hidden.high,Math.round(w.hidden/(w.heads*w.head_dim)*l.heads*l.head_dim)));c({...r,kv_heads:l.kv_heads,hidden:x})},q=r=>{let l={...a(),...r};l.reserve=Math.max(l.reserve,...l.requests.map(Z)),l.page*l.capacity<l.reserve&&(l.capacity=Math.ceil(l.reserve/l.page)),Je(l)||c({...r,reserve:l.reserve,capacity:l.capacity,moment:"requests"in r?0:e.get("moment")})},V=r=>{let l=e.get("prompt");c({prompt:[...l,...re.prompt,...Qe].slice(0,Math.max(r,1)).map((w,x)=>x<l.length?w:[...re.prompt,...Qe][x]),step:0})},E=de({label:"model",options:[],value:"",onchange:r=>r&&c({...Object.fromEntries(De.map(l=>[l,Q[r][l]]))})}),B=de({label:"KV heads",options:[],value:"",onchange:r=>c({kv_heads:Number(r)})}),ne=(r,l,w)=>de({label:r,options:Object.entries(l).map(([x,_])=>({value:x,label:_})).sort((x,_)=>_.value-x.value),value:"2",onchange:x=>c({[w]:Number(x)})}),z=ne("bytes of a number",zt,"bytes_per_value"),C=ne("bytes of a weight",_t,"weight_bytes"),H=Object.fromEntries([["layers",D.layers.label,r=>c({layers:r})],["heads",D.heads.label,r=>$({heads:r})],["head_dim",D.head_dim.label,r=>$({head_dim:r})],["memory_gb","memory, GB",r=>c({memory_gb:r})],["length",D.length.label,r=>c({length:r})]].map(([r,l,w])=>{let x=Ge({label:l,value:null,min:D[r]?.low,max:D[r]?.high,step:r==="memory_gb"?"any":1,oninput:_=>_!==null&&!Xe(r,_)&&w(_)});return x.input.addEventListener("blur",()=>x.update({value:e.get(r)})),(r==="length"||r==="memory_gb")&&x.classList.add("kv-wide"),[r,x]})),ee=(r,l,w,x,_)=>Se({label:l,min:w,max:x,value:w,oninput:_}),j={prompt:ee("prompt","tokens of prompt",1,Te,V),new_tokens:ee("new_tokens",D.new_tokens.label,1,D.new_tokens.high,r=>c({new_tokens:r})),page:ee("page",D.page.label,1,D.page.high,r=>q({page:r})),capacity:ee("capacity",D.capacity.label,1,D.capacity.high,r=>q({capacity:r})),reserve:ee("reserve",D.reserve.label,1,D.reserve.high,r=>q({reserve:r}))},Le=0,tt=U("Other sequences",()=>q({requests:Tt(Le+=1)})),Ne={steps:[E,B,z,H.layers,H.heads,H.head_dim,j.prompt,j.new_tokens],memory:[E,B,z,C,H.memory_gb,H.length],pages:[j.page,j.capacity,j.reserve,tt]},ye=n("p",{class:"kv-note",role:"status"}),ie=n("p",{class:"kv-head"}),ot=()=>{f(),e.save_changes(),lt()},Be=U("Play",()=>{if(u())return ot();let r=s()?"moment":"step";d()>=i()&&e.set(r,0),m=setInterval(()=>{let l=d()+1;e.set(r,l),l>=i()&&ot()},Re()?1800:1e3),Be.textContent="Pause"},{kind:"primary"});o.defer(()=>clearInterval(m));let we=(r,l,w)=>U(r,l,{name:w,title:w}),at=[we("|◂",()=>h(0),"First step"),we("◂",()=>h(d()-1),"One step back"),we("▸",()=>h(d()+1),"One step on"),we("▸|",()=>h(i()),"Last step")],rt=Se({label:"step",min:1,max:2,value:1,format:r=>`${r} of ${i()+1}`,oninput:r=>h(r-1)}),ke=n("div",{class:"kv-player"},X("Steps",[Be,...at]),rt),st=[!1,!0].map(r=>Wt({cached:r,pick:h})),xe=Gt(),$e=n("div",{class:"kv-box"}),ze=n("div",{class:"kv-box"}),_e=n("div",{class:"kv"}),Ce=n("div",{class:"kv"},n("div",{class:"kv-pair"},st.map(r=>r.node)),jt()),Ut=[ke,ie,Ce,_e,xe.node],Yt={steps:[ke,ie,Ce],memory:[_e],pages:[ke,ie,xe.node]};function Qt(r,l){let w=[!1,!0].map(S=>ue(r,S)),x=r.prompt.length,_=e.get("reply")??[],P=[...r.prompt,...Array.from({length:r.new_tokens-1},(S,I)=>_[I]??`+${I+1}`)];st.forEach(S=>S.draw(P,x,r.new_tokens,l)),ie.textContent=l?`Decode, step ${l+1}: the newest token “${P[x+l-1].trim()}” is fed, the next one comes out`:"Prefill, step 1: the prompt goes in, the first new token comes out";let N=(S,I,K)=>{let We=w.map(te=>[te[l][I],et(te.slice(0,l+1).map(oe=>oe[I]))]);return R(S,We.map(([te,oe])=>[n("b",{title:T(te)},K(te)),n("span",{title:T(oe)},`so far ${K(oe)}`)]))},k=G(r).position,{kept:g}=w[1][l];L($e,n("p",{class:"kv-title"},"Counted: this step, and so far"),n("table",{class:"kv-table"},ge(["counted","without","with a cache"]),n("tbody",{},N("rows of K and V computed","computed",T),N("rows read from the cache","read",T),N("multiply-adds of attention","macs",S=>se(S)),N("FLOPs of the model","flops",S=>se(S,"FLOP")),R("bytes of the cache",["none",n("b",{},A(k*g))]))));let O=w.map(S=>et(S.slice(0,l+1).map(I=>I.flops)));L(ze,n("p",{class:"kv-title"},"The cache"),n("p",{class:"kv-formula"},`${ve(r)} = ${T(k)} B a position`),n("p",{class:"kv-formula"},`× ${g} position${g===1?"":"s"} = ${T(k*g)} B`),n("p",{class:"kv-small"},`At the end ${x} + ${r.new_tokens} − 1 = ${x+r.new_tokens-1} positions are kept: the last new token is never fed back.`),n("p",{class:"kv-small"},`So far the model does ${Y(O[0]/O[1])} times the FLOPs without a cache. A decode step with one multiplies every matrix by a single vector: reading weights and cache takes its time, not the FLOPs.`))}function Jt(r){let l=G(r),w=r.memory_gb*1e9,x=(g,O)=>n("i",{class:g,style:{width:`${(100*Math.min(1,Math.max(0,O))).toFixed(2)}%`}}),_=l.left-l.fit*l.each,P=(g,O)=>n("span",{},n("i",{class:`kv-sample ${g}`}),O);L(_e,n("p",{class:"kv-head"},l.left<0?`The weights need ${A(l.weights)}, more than ${A(w)}`:`${T(l.fit)} sequence${l.fit===1?"":"s"} of ${T(r.length)} tokens fit${l.fit===1?"s":""} beside the weights`),n("div",{class:`kv-meter${l.left<0?" over":""}`,"aria-hidden":"true"},x("w",l.weights/w),x("c",l.left<0?0:l.fit*l.each/w)),n("div",{class:"kv-key"},P("w",`weights ${A(l.weights)}`),l.left>=0&&[P("c",`caches ${A(l.fit*l.each)}`),P("",`too little for one more ${A(_)}`)]),n("p",{class:"kv-formula"},`${ve(r)} = ${T(l.position)} B a position, × ${T(r.length)} = ${A(l.each)}`),n("p",{class:"kv-small"},`${Ae(l.parameters)} parameters. An upper bound: activations, workspaces, the CUDA context and fragmentation take their part, so engines leave about a tenth free. GB are 10⁹ bytes. GPT-2 has only 1,024 positions.`));let N=[...new Set([r.heads,r.kv_heads,1])],k=["KV heads","a position","a sequence","fit"];L($e,n("p",{class:"kv-title"},"This model with other KV heads, at the same weights"),n("table",{class:"kv-table"},ge(k),n("tbody",{},N.map(g=>[g,G(r,g)]).map(([g,O])=>R(`${g} (${Kt[Pe(r.heads,g)]})`,[A(O.position),A(O.each),O.left<0?"–":T(O.fit)],g===r.kv_heads))))),L(ze,n("p",{class:"kv-title"},`Published sizes, ${r.weight_bytes===.5?"½":r.weight_bytes} B a weight, ${r.bytes_per_value} B a number`),n("div",{class:"kv-scroll",tabindex:0,role:"region","aria-label":"Published models"},n("table",{class:"kv-table"},ge(["model","weights","a position","a sequence","fit"]),n("tbody",{},Object.entries(Q).slice(1).map(([g,{label:O}])=>[g,O,G({...r,...He({model:g})})]).map(([g,O,S])=>R(O,[A(S.weights),A(S.position),A(S.each),S.left<0?"–":T(S.fit)],g===be(r)))))))}function Xt(r,l){let[w,x]=fe(r),_=w[l],P=x[Math.min(l,x.length-1)],[N,k]=[ce(w),ce(x)],g=r.capacity-_.pages;ie.textContent=`Step ${l+1}:${Ze(_,w[l-1])||" every sequence grows by one position."}`,xe.draw(r,_,w[l-1]);let O=I=>{let K=_.running.find(Zt=>Zt.request===I),[We,te]=r.requests[I],oe=`${F(I)}: ${We} + ${te}`;return K?n("tr",{},n("th",{scope:"row"},oe),n("td",{},K.done?"done":_.started.includes(I)?"prefill":"decode"),n("td",{},K.positions),n("td",{class:"kv-pages"},K.pages.join(" "))):R(oe,[_.waiting.includes(I)?_.evicted.includes(I)?"evicted":"waits":"gone","–","–"])};L($e,n("p",{class:"kv-title"},"Block tables: prompt + new tokens, and the pages in order"),n("table",{class:"kv-table kv-tables"},ge(["sequence","state","kept","pages"]),n("tbody",{},r.requests.map((I,K)=>O(K)))));let S=I=>`${Y(100*I)} %`;L(ze,n("p",{class:"kv-title"},`Pages, and ${r.reserve} positions reserved for each, in the same memory`),n("table",{class:"kv-table"},ge(["counted","pages","reserved"]),n("tbody",{},R("running now",[_.running.length,P.running.length]),R("positions held now",[_.held,P.held]),R("of them unused",[_.held-_.used,P.held-P.used]),R("most at once",[N.most,k.most]),R("used of what is held, whole run",[S(N.used),S(k.used)]),R("steps for all",[N.steps,k.steps]),R("computed again",[N.evicted,k.evicted]))),n("p",{class:"kv-small"},`${g} page${g===1?" is":"s are"} free. One left-padded batch of all ${r.requests.length} would keep ${qe(r.requests)} positions, of which ${et(r.requests.map(Z))} are tokens.`))}let Ee=!1,nt=!0,je=0;o.defer(()=>clearTimeout(je));function it(){Ee=!1;let r=a(),l=d(),{view:w}=r;for(let[k,g]of Object.entries(Ne))for(let O of g)Ne[w].includes(O)||(O.hidden=!0);Ne[w].forEach(k=>k.hidden=!1),p.forEach((k,g)=>k.setAttribute("aria-pressed",String(Object.keys(Oe)[g]===w)));let x=be(r);E.update({options:[...x?[]:[{value:"",label:"own sizes"}],...Object.entries(Q).map(([k,{label:g}])=>({value:k,label:g}))],value:x??""}),B.update({options:Mt(r.heads).map(k=>({value:String(k),label:`${k} (${Kt[Pe(r.heads,k)]})`})),value:r.kv_heads}),z.update({value:r.bytes_per_value}),C.update({value:r.weight_bytes});for(let[k,g]of Object.entries(H))g.getRootNode().activeElement!==g.input&&g.update({value:r[k]});for(let[k,g]of Object.entries(j))g.update({value:k==="prompt"?r.prompt.length:r[k]});let _=Math.max(...r.requests.map(Z));j.reserve.update({min:_,value:r.reserve}),j.capacity.update({min:Math.ceil(r.reserve/r.page),value:r.capacity});let P=Dt(r);Object.keys(J).forEach((k,g)=>y[g].setAttribute("aria-pressed",String(k===P))),ye.textContent!==(J[P]?.note??"")&&(ye.textContent=J[P]?.note??""),ye.hidden=!P,rt.update({max:i()+1,value:l+1}),at.forEach((k,g)=>k.disable(g<2?l===0:l>=i()));for(let k of Ut)k.hidden=!Yt[w].includes(k);({steps:Qt,memory:Jt,pages:Xt})[w](r,l),clearTimeout(je);let N=()=>o.say(Pt(r,e.get("step"),e.get("moment")));nt?N():u()||(je=setTimeout(N,250)),nt=!1}let lt=()=>{Ee||queueMicrotask(()=>Ee&&it()),Ee=!0};for(let r of[...Me,"reply","step","moment"])o.on(r,lt);return o.lay({stage:n("div",{class:"kv-box"},Ce,_e,xe.node),bar:ke,readout:[ye,ie],drawer:[n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Start from"),X("Presets",y)),n("div",{class:"kv-chips"},n("p",{class:"kv-title"},"Look at"),X("Look at",p)),n("div",{class:"kv-fields"},E,B,z,C,Object.values(H)),n("div",{class:"kv-sliders"},Object.values(j)),n("div",{class:"kv-bar"},tt,pe("Copy as PyTorch",()=>Nt(a(),e.get("step"),d())),v),n("div",{class:"kv-pair"},$e,ze)]}),it(),o.cleanup}var fa={render:_o};export{fa as default};
