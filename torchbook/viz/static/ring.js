var rt="http://www.w3.org/2000/svg",nt=Math.random().toString(36).slice(2,8),st=0,H=(e="tb")=>`${e}-${nt}-${st+=1}`,a=(e,t,...r)=>Ee(document.createElement(e),t,r),A=(e,t,...r)=>Ee(document.createElementNS(rt,e),t,r);function Ee(e,t,r){for(let[n,s]of Object.entries(t??{}))s===!1||s===null||s===void 0||(typeof s=="function"&&n.startsWith("on")?e.addEventListener(n.slice(2),s):n==="style"&&typeof s=="object"?ot(e,s):e.setAttribute(n,s===!0?"":s));return e.append(...Oe(r)),e}function ot(e,t){for(let[r,n]of Object.entries(t))r.startsWith("--")?e.style.setProperty(r,n):e.style[r]=n}var Oe=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1&&t!=="");function C(e,...t){return e.replaceChildren(...Oe(t)),e}function M(e,t,r={}){let n=a("button",{type:"button",class:["tbviz-button",r.kind&&`tbviz-${r.kind}`].filter(Boolean).join(" "),title:r.title,"aria-label":r.name,onclick:s=>n.getAttribute("aria-disabled")!=="true"&&t(s)},e);return n.disable=s=>s?n.setAttribute("aria-disabled","true"):n.removeAttribute("aria-disabled"),n.disable(!!r.disabled),n}function ee({label:e,min:t,max:r,step:n=1,value:s,oninput:o,format:i=String,title:l}){let d=H(),p=a("output",{for:d}),c=a("input",{type:"range",id:d,oninput:()=>{m(),o(Number(c.value))}}),m=()=>{let b=i(Number(c.value));p.textContent=b,c.setAttribute("aria-valuetext",b)},f=a("div",{class:"tbviz-slider",title:l},a("label",{for:d},e),c,p);return f.input=c,f.update=b=>{for(let v of["min","max","step"])b[v]!==void 0&&(c[v]=b[v]);b.value!==void 0&&(c.value=b.value),c.disabled=Number(c.min)>=Number(c.max),m()},f.update({min:t,max:r,step:n,value:s}),f}var je={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1};function te(e,t){let r=a("div",{class:"tbviz-toolbar",role:"toolbar","aria-label":e},t),n=()=>[...r.querySelectorAll("button, a[href]")],s=o=>n().forEach(i=>i.tabIndex=i===o?0:-1);return r.addEventListener("focusin",o=>s(o.target.closest("button, a[href]"))),r.addEventListener("keydown",o=>{let i=n(),l=i.indexOf(o.target);if(l<0)return;let d=-1;o.key in je?d=(l+je[o.key]+i.length)%i.length:o.key==="Home"?d=0:o.key==="End"&&(d=i.length-1),!(d<0)&&(o.preventDefault(),i[d].focus())}),s(n()[0]),r.reset=()=>s(n().find(o=>o.tabIndex===0)??n()[0]),r}async function Ce(e){try{return await navigator.clipboard.writeText(e),!0}catch{return it(e)}}function it(e){let t=document.activeElement,r=a("textarea",{readonly:!0,"aria-hidden":"true",style:{position:"fixed",top:"0",opacity:"0"}});r.value=e,document.body.append(r),r.select();let n=!1;try{n=document.execCommand("copy")}catch{n=!1}return r.remove(),t?.focus?.(),n}function V(e,t,r={}){let n=a("span",{class:"tbviz-status",role:"status"}),s=0,o=l=>{clearTimeout(s),n.textContent=l,s=setTimeout(()=>n.textContent="",2500)},i=M(e,async()=>{let l=t();o(await Ce(l)?"Copied":`Copying is not allowed here. Copy this: ${l}`)},r);return a("span",{class:"tbviz-copy"},i,n)}var re=()=>!!globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;function ue({ms:e,step:t,done:r}){if(re()||e<=0)return t(1),r?.(),{cancel(){}};let n=0,s,o=i=>{s??(s=i);let l=Math.min(1,(i-s)/e);t(l),l<1?n=requestAnimationFrame(o):r?.()};return n=requestAnimationFrame(o),{cancel:()=>cancelAnimationFrame(n)}}var at=e=>{let t=new TextEncoder().encode(JSON.stringify(e));return btoa(String.fromCharCode(...t)).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")},lt=e=>{let t=atob(e.replaceAll("-","+").replaceAll("_","/"));return JSON.parse(new TextDecoder().decode(Uint8Array.from(t,r=>r.charCodeAt(0))))},pe=(e,t)=>typeof t=="string"&&/^[\w-]+$/.test(t)?`#tbviz-${e}:${t}`:`#tbviz-${e}=${at(t)}`;function Ne(e,t){let r;try{r=decodeURIComponent(t)}catch{return}for(let[n,s]of[[":",o=>o],["=",lt]]){let o=`#tbviz-${e}${n}`;if(r.startsWith(o))try{return s(r.slice(o.length))}catch{return}}}var me=e=>e.closest(".viz-mount");function fe(e,t,r){let n=me(e);return r||!n?r||t:`${t}-${[...document.querySelectorAll(".viz-mount")].indexOf(n)+1}`}function be({key:e,get:t,put:r,el:n,label:s="Copy link"}){let o=!!me(n),i=c=>`${location.href.split("#")[0]}${pe(e,c)}`,l=o?V(s,()=>i(t()),{title:"A link that opens this figure as it is now"}):a("span",{hidden:!0}),d=c=>{let m=Ne(e,location.hash);m!==void 0&&(r(m),c&&n.scrollIntoView({block:"nearest"}))},p=()=>d(!0);return l.href=c=>o?pe(e,c):"",l.cleanup=()=>removeEventListener("hashchange",p),l.start=()=>{o&&(addEventListener("hashchange",p),d(!0))},queueMicrotask(l.start),l}var Te=`color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`,Le=`color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`,Pe=(...e)=>e.map(t=>`${t} .tbviz`).join(","),Be=`
.tbviz{${Te}}
@media (prefers-color-scheme:dark){.tbviz{${Le}}}
${Pe("[data-theme=light]","[data-jp-theme-light=true]",".vscode-light","html[theme=light]")}{${Te}}
${Pe("[data-theme=dark]","[data-jp-theme-light=false]",".vscode-dark",".vscode-high-contrast:not(.vscode-high-contrast-light)","html[theme=dark]")}{${Le}}
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
`;function he({model:e,el:t,title:r,describe:n}){let s=[],o=H(),i=a("div",{class:"tbviz-controls"}),l=a("div",{class:"tbviz-stage"}),d=a("p",{class:"tbviz-words","aria-live":"polite"}),p=a("p",{class:"tbviz-help",id:o}),c=a("style",{},Be),m=a("div",{class:"tbviz",role:"group","aria-label":r,"aria-describedby":typeof n=="string"?o:null},c,i,l,d,p);typeof n=="string"?p.textContent=n:p.hidden=!0,m.addEventListener("keydown",x=>x.stopPropagation());let f=x=>{for(let[P,g]of Object.entries(x))e.set(P,g);e.save_changes()},b=x=>{d.textContent!==x&&(d.textContent=x),e.get("words")!==x&&f({words:x})},v=(x,P)=>{let g=()=>P(e.get(x));e.on(`change:${x}`,g),s.push(()=>e.off(`change:${x}`,g))},E=()=>{for(;s.length;)s.pop()();m.remove()};return t.append(m),typeof n=="function"&&b(n()),{root:m,stage:l,controls:i,help:p,say:b,on:v,set:f,defer:x=>s.push(x),cleanup:E,css:x=>c.append(x)}}function ne(e,t=3){if(e===0)return"0";let r=e.toExponential(t-1),n=Number(r.slice(r.indexOf("e")+1));return n>=t?String(Math.round(e)):Number(r).toFixed(Math.max(0,t-1-n))}function F(e){let[t,r]=e.toExponential(5).split("e");return Number(r)<-3?`${Number(t)}e−${-Number(r)}`:String(Number(e.toPrecision(6)))}function z(e){return e>=1?`${ne(e)} s`:e>=.001?`${ne(e/.001)} ms`:e?`${ne(e/1e-6)} µs`:"0 ms"}var ct=[[1e12,"TB"],[1e9,"GB"],[1e6,"MB"],[1e3,"kB"],[0,"B"]];function S(e){let[t,r]=ct.find(([n])=>e>=n);return`${ne(t?e/t:e)} ${r}`}var Ie={fields:{ranks:{label:"ranks, K",value:4,low:2,high:16,whole:!0},elements:{label:"elements, n",value:8,low:1,high:48,whole:!0},size_mb:{label:"they stand for, N",value:100,low:.001,high:1e5,whole:!1},bandwidth_gbs:{label:"bandwidth, β",value:25,low:.01,high:1e3,whole:!1},latency_us:{label:"latency, α",value:10,low:0,high:1e4,whole:!1},seed:{label:"numbers, seed",value:0,low:0,high:999,whole:!0}},presets:{four:{label:"4 ranks",note:"Four ranks, four chunks. Three steps of reduce-scatter leave each rank with one finished chunk; three steps of all-gather hand the finished chunks around.",set:{}},two:{label:"2 ranks",note:"With two ranks the factor is 1: each sends half of its vector to be summed, and half of the result back.",set:{ranks:2}},sixteen:{label:"16 ranks",note:"Sixteen ranks send 30 messages each, but of a sixteenth of the vector: 1.875 vectors per link. The factor never reaches 2, however many ranks there are; the number of steps grows with them.",set:{ranks:16,elements:16}},uneven:{label:"10 elements, 4 ranks",note:"Four does not divide ten: the chunks have 3, 3, 2 and 2 elements. A step takes as long as its longest message, and the links carry 14 to 16 elements; the total is 2(K−1)·n all the same.",set:{elements:10}},few:{label:"3 elements, 5 ranks",note:"Fewer elements than ranks: two chunks are empty. Their messages carry nothing, but the ring still takes its 2(K−1) steps.",set:{ranks:5,elements:3}},small:{label:"small tensor",note:"A tensor of 64 kB on 16 ranks: nearly all of the time is latency, paid 2(K−1) times. A tree, with 2·log₂ K steps, is faster. This is why gradients travel in buckets.",set:{ranks:16,elements:16,size_mb:.064}},slow:{label:"slow network",note:"Ethernet of 10 Gbit/s, 1.25 GB/s: the latency is nothing beside the bytes, and gathering at one rank costs K times the ring.",set:{ranks:8,elements:8,bandwidth_gbs:1.25,latency_us:50,size_mb:1e3}}}};var{fields:q,presets:L}=Ie,D=Object.keys(q),se=Object.fromEntries(D.map(e=>[e,q[e].value])),[W,ge]=["reduce-scatter","all-gather"],K=e=>Array.from({length:e},(t,r)=>r),ve=(e,t)=>K(t).map(r=>Math.floor(e/t)+(r<e%t?1:0)),xe=(e,t)=>ve(e,t).reduce((r,n)=>[...r,r.at(-1)+n],[0]);function Re(e,t,r){let n=(s,o)=>{let i=(r*7919+s*1047+o*131+17)%65536;for(let l=0;l<3;l+=1)i=(i*75+74)%65537;return 1+i%9};return K(e).map(s=>K(t).map(o=>n(s,o)))}function J(e){let t=e.length,r=xe(e[0].length,t),n=e.map(l=>[...l]),s=K(t).map(l=>K(t).map(()=>[l])),o=(l,d,p)=>({step:l,phase:d,messages:p,vectors:n.map(c=>[...c]),parts:s.map(c=>[...c])}),i=[o(0,"start",[])];for(let l=0;l<2*(t-1);l+=1){let d=l<t-1,p=K(t).map(c=>{let m=((c-l)%t+t)%t;return[{step:l+1,source:c,target:(c+1)%t,chunk:m,values:n[c].slice(r[m],r[m+1])},s[c][m]]});for(let[{chunk:c,target:m,values:f},b]of p)f.forEach((v,E)=>n[m][r[c]+E]=d?n[m][r[c]+E]+v:v),s[m][c]=d?[...b,...s[m][c]]:b;i.push(o(l+1,d?W:ge,p.map(([c])=>c)))}return i}var ke=e=>J(e).flatMap(t=>t.messages),Fe=(e,t)=>e.map((r,n)=>r+t[n]);function ut(e){let t=[],r=e[0];for(let n=1;n<e.length;n+=1)t.push({step:t.length+1,source:n,target:0,chunk:-1,values:e[n]}),r=Fe(r,e[n]);for(let n=1;n<e.length;n+=1)t.push({step:t.length+1,source:0,target:n,chunk:-1,values:r});return t}function pt(e){let t=e.length,r=[...e],n=[],[s,o]=[0,1];for(;o<t;o*=2){s+=1;for(let i=0;i<t-o;i+=2*o)n.push({step:s,source:i+o,target:i,chunk:-1,values:r[i+o]}),r[i]=Fe(r[i],r[i+o])}for(;o>1;){o/=2,s+=1;for(let i=0;i<t-o;i+=2*o)n.push({step:s,source:i,target:i+o,chunk:-1,values:r[i]}),r[i+o]=r[i]}return n}function G(e,t){let r=Array(t).fill(0);for(let n of e)r[n.source]+=n.values.length;return r}function mt(e,t){let r=Array(t).fill(0),n=Array(t).fill(0),s=new Map;for(let{step:i,source:l,target:d,values:p}of e)r[l]+=p.length,n[d]+=p.length,s.set(i,Math.max(s.get(i)??0,p.length));let o=i=>i.reduce((l,d)=>l+d,0);return{steps:s.size,total:o(r),busiest:Math.max(...r,...n),longest:o([...s.values()])}}var Y=e=>2*(e-1)/e;function oe(e){let{ranks:t,elements:r}=e,n=K(t).map(()=>Array(r).fill(0)),s={ring:ke(n),gather:ut(n),tree:pt(n)},o=e.size_mb*1e6/r;return Object.fromEntries(Object.entries(s).map(([i,l])=>{let d=mt(l,t),p=d.steps*(e.latency_us*1e-6),c=d.longest*o/(e.bandwidth_gbs*1e9);return[i,{steps:d.steps,busiest:d.busiest*o,total:d.total*o,latency:p,bandwidth:c,seconds:p+c}]}))}function ye(e,t){let{low:r,high:n,whole:s}=q[e];return Number.isFinite(t)&&t>=r&&t<=n&&(!s||Number.isInteger(t))?"":`${s?"a whole number":"a number"} from ${r} to ${n}`}var ft=(e,t,r)=>Array.isArray(e)&&(e.length===0||e.length===t&&e.every(n=>Array.isArray(n)&&n.length===r&&n.every(Number.isSafeInteger)));function Ke(e){if(!e||typeof e!="object"||Array.isArray(e))return!1;let{ranks:t,elements:r}={...se,...e};return Object.entries(e).every(([n,s])=>n==="values"?ft(s,t,r):n==="step"?Number.isInteger(s)&&s>=0&&s<=2*(t-1):Object.hasOwn(q,n)&&!ye(n,s))}var qe=e=>Object.keys(L).find(t=>{let r={...se,...L[t].set};return D.every(n=>r[n]===e[n])});var bt=e=>e.length>1?`${e.slice(0,-1).join(", ")} and ${e.at(-1)}`:e[0],De=e=>e===1?"":"s",ht=e=>e.reduce((t,r)=>t+r,0);function gt(e,t){let r=ve(e,t);if(r[0]===r.at(-1))return`${t} chunks of ${r[0]}`;let n=e%t;return`${n} chunk${De(n)} of ${r[0]} and ${t-n} of ${r.at(-1)}`}function vt(e,t){let r=e[t],n=e.length-1;if(!t)return"Nothing is sent yet: every chunk holds only its own rank's numbers.";let s=r.vectors.length,o=bt(r.messages.map(d=>`rank ${d.source} sends chunk ${d.chunk} to rank ${d.target}`)),i=r.parts[r.messages[0].target][r.messages[0].chunk].length,l=r.phase===W?`The receiver adds it to its own; that chunk then holds the numbers of ${i} of ${s} ranks.`:"The receiver puts the finished chunk in the place of its own.";return`Step ${t} of ${n}, ${r.phase}: ${o}. ${l}${t===n?` All ranks hold the sum ${r.vectors[0].join(" ")}.`:""}`}var ie=e=>Math.min(...e)===Math.max(...e)?String(e[0]):`${Math.min(...e)} to ${Math.max(...e)}`;function Ge(e,t,r){let[n,s]=[t.length,t[0].length],o=J(t),i=Math.min(r,o.length-1),l=G(o.slice(0,i+1).flatMap(f=>f.messages),n),d=ht(G(ke(t),n)),{ring:p,gather:c,tree:m}=oe(e);return`Ring all-reduce, ${n} ranks, ${s} element${De(s)} each in ${gt(s,n)}. ${vt(o,i)} Each link has carried ${ie(l)} elements so far; at the end all links together ${d}, on average ${F(d/n)} each, ${F(d/n/s)} times a vector: 2(K−1)/K = ${F(Y(n))}. For ${S(e.size_mb*1e6)} at ${S(e.bandwidth_gbs*1e9)} a second and ${z(e.latency_us*1e-6)} a message the ring takes ${z(p.seconds)}, ${z(p.bandwidth)} for the bytes and ${z(p.latency)} for ${p.steps} latencies; gathering at one rank and sending back ${z(c.seconds)}, with ${S(c.busiest)} through the busiest link in place of ${S(p.busiest)}; a tree ${z(m.seconds)}.`}var Ue=(e,t)=>e.length===t?"all":e.length===1||t<=8&&e.length<=3?e.join("+"):`${e[0]}…${e.at(-1)}`,He=e=>`"""torchrun --standalone --nproc-per-node ${e.length} ring.py"""

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
`;var we=e=>Math.round(e*10)/10;function Ve(){let e=A("svg",{class:"ri-svg",role:"img"}),t={cancel(){}};function r(n,s,o){t.cancel();let i=n[s],l=i.vectors.length,d=290,[p,c,m]=[d/2,d/2-22,l>10?14:17],f=g=>2*Math.PI*g/l-Math.PI/2,b=(g,y=c)=>[we(p+y*Math.cos(f(g))),we(p+y*Math.sin(f(g)))],v=(m+4)/c/(2*Math.PI/l);for(let[g,y]of Object.entries({viewBox:`0 0 ${d} ${d}`,width:d,height:d}))e.setAttribute(g,y);e.setAttribute("aria-label",`Ring of ${l} ranks; the words below say which chunk is on each link`);let E=s?" on":"",x=i.vectors.map((g,y)=>{let[[N,O],[j,I]]=[b(y+v),b(y+1-v)],X=(f(y+1-v)+Math.PI/2)*180/Math.PI;return[A("path",{d:`M${N} ${O}A${c} ${c} 0 0 1 ${j} ${I}`,class:`ri-arc${E}`}),A("path",{d:"M-6 -4.5L3 0L-6 4.5Z",transform:`translate(${j} ${I}) rotate(${we(X)})`,class:`ri-tip${E}`})]}),P=i.messages.map(({source:g,chunk:y})=>{let N=l>8?String(y):`chunk ${y}`,O=l>8?20:54,j=A("g",{class:`ri-parcel${i.phase===ge?" gather":""}`},A("rect",{x:-O/2,y:-8.5,width:O,height:17,rx:4}),A("text",{y:.5},N));return j.put=I=>j.setAttribute("transform",`translate(${b(g+v+I*(1-2*v),l>8?c-24:c-(l>4?22:0)).join(" ")})`),j.put(.5),j});C(e,x,i.vectors.map((g,y)=>{let[N,O]=b(y);return[A("circle",{cx:N,cy:O,r:m,class:"ri-node"}),A("text",{x:N,y:O},y)]}),P,A("text",{x:p,y:p-9,class:"ri-mid"},s?i.phase:"start"),A("text",{x:p,y:p+9,class:"ri-mid"},s?`step ${s} of ${n.length-1}`:`${n.length-1} steps ahead`)),o&&(t=ue({ms:420,step:g=>P.forEach(y=>y.put(.5*g))}))}return{node:e,draw:r,stop:()=>t.cancel()}}function We(){let e=a("div",{class:"ri-scroll",tabindex:0,role:"region","aria-label":"What the ranks, in rows, hold of the chunks, in columns"}),t=(s,o)=>a("span",{},a("i",{class:s}),o),r=a("div",{class:"ri-key"},t("","own numbers"),t("some","partial sum"),t("all","finished"),t("sent","sent in this step"),t("got","received in this step"));function n(s,o){let i=s[o],l=i.vectors.length,d=xe(i.vectors[0].length,l),p=(c,m,f)=>i.messages.some(b=>b[c]===m&&b.chunk===f);C(e,a("table",{class:`ri-grid${l>8?" many":""}`},a("thead",{},a("tr",{},a("td",{class:"ri-corner"}),d.slice(1).map((c,m)=>a("th",{scope:"col"},l>6?m:[a("span",{class:"ri-long"},"chunk "),m])))),a("tbody",{},i.vectors.map((c,m)=>a("tr",{},a("th",{scope:"row"},a("span",{class:"ri-long"},"rank "),m),i.parts[m].map((f,b)=>{let v=[f.length===l?"all":f.length>1&&"some",p("target",m,b)&&"got",p("source",m,b)&&"sent"];return a("td",{class:v.filter(Boolean).join(" ")||null,title:`ranks ${f.join(", ")}`},a("span",{class:"ri-nums"},c.slice(d[b],d[b+1]).join(" ")||"–"),a("span",{class:"ri-who"},Ue(f,l)))}))))))}return{node:a("div",{class:"ri"},e,r),draw:n}}var Je='ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace',Ye=`
.ri{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .ri-title{font-size:.8em;font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .ri-small{font-size:.84em;color:var(--tb-muted);margin:0}
.ri-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.ri-chips .tbviz-button{font-size:.86em;min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .ri-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:.92em}
.ri-sliders{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.1rem 1.4rem;flex:1 1 100%}
.ri-sliders .tbviz-slider{grid-template-columns:8.6rem minmax(3rem,1fr) 5rem}
.ri-sliders .tbviz-slider>label{font-size:.88em}
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
.ri-svg .ri-parcel text{font-size:11px;font-weight:650}
.ri-svg .ri-mid{font-size:12.5px;fill:var(--tb-muted)}
.ri-scroll{overflow-x:auto;max-width:100%;min-width:0;padding-bottom:2px}
.tbviz .ri-grid{border-collapse:separate;border-spacing:3px;margin:0;width:100%;font-size:.9em;font-variant-numeric:tabular-nums;display:table;background:none;color:var(--tb-fg)}
.tbviz .ri-grid tr{background:none;border:0}
.tbviz .ri-grid :is(td,th){border:1px solid transparent;padding:.15rem .3rem;text-align:center;background:none;color:inherit;font-weight:400;white-space:nowrap}
.tbviz .ri-grid th{color:var(--tb-muted);font-size:.92em}
.tbviz .ri-grid td{border-color:var(--tb-line);border-radius:5px}
.tbviz .ri-grid td.some{background:var(--tb-accent-soft)}
.tbviz .ri-grid td.all{background:var(--tb-good-soft)}
.tbviz .ri-grid td.got{outline:2.5px solid var(--tb-fg);outline-offset:-1px}
.tbviz .ri-grid td.sent{border:1.5px dashed var(--tb-edge)}
.tbviz .ri-grid .ri-corner{border:0}
@container (max-width:460px){.ri-long{display:none}}
.ri-nums{display:block;font:.95em ${Je}}
.ri-who{display:block;font-size:.84em}
.ri-key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.84em}
.ri-key i{display:inline-block;width:1.3em;height:.95em;border:1px solid var(--tb-line);border-radius:3px;vertical-align:-.1em;margin-right:.35rem}
.ri-key i.some{background:var(--tb-accent-soft)}
.ri-key i.all{background:var(--tb-good-soft)}
.ri-key i.got{outline:2px solid var(--tb-fg);outline-offset:-1px}
.ri-key i.sent{border:1.5px dashed var(--tb-edge)}
.ri-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:.9em}
.ri-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden;display:flex}
.ri-track>i{display:block;height:100%;background:var(--tb-accent)}
.ri-track>i.late{background:repeating-linear-gradient(135deg,var(--tb-warm) 0 2px,var(--tb-warm-soft) 2px 5px)}
.ri-value{font-variant-numeric:tabular-nums;text-align:right}
.tbviz .ri-grid.many{border-spacing:1.5px;font-size:.82em}
.tbviz .ri-grid.many :is(td,th){padding:.1rem}
.ri-links{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.4rem,1fr));gap:.2rem .9rem;font-size:.88em;font-variant-numeric:tabular-nums}
.ri-links span{display:flex;white-space:nowrap;justify-content:space-between;gap:.4rem;border-bottom:1px solid var(--tb-line)}
.tbviz .ri-formula{font-family:${Je};font-size:.88em;overflow-wrap:anywhere}
.tbviz .ri-costs{border-collapse:collapse;margin:0;width:100%;font-size:.88em;display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .ri-costs tr{background:none;border:0}
.tbviz .ri-costs :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.2rem .35rem;text-align:right;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .ri-costs :is(td,th):first-child{text-align:left;padding-left:0}
.ri-costs td{white-space:nowrap}
.tbviz .ri-costs thead th{color:var(--tb-muted);font-size:.94em}
`;var xt="Step with the buttons, or with the arrow keys on the slider. Small text in a cell says whose numbers are summed there: 3+0 is ranks 3 and 0, 3…1 is 3, 0 and 1 around the ring.",Ze={size_mb:e=>S(e*1e6),bandwidth_gbs:e=>`${S(e*1e9)}/s`,latency_us:e=>z(e*1e-6)},Xe=e=>e.reduce((t,r)=>t+r,0);function kt(e,t,r){let{label:n,low:s,high:o,whole:i}=q[e],l=s||.1,d=f=>f<l?0:1+Math.round(119*Math.log(f/l)/Math.log(o/l)),p=f=>f===0?s:Number((l*(o/l)**((f-1)/119)).toPrecision(2)),c,m=ee({label:n,min:i?s:s?1:0,max:i?o:120,value:0,format:f=>i?String(f):Ze[e](c??p(f)),oninput:f=>r({[e]:i?f:p(f)})});return m.refresh=()=>{c=t.get(e),m.update({value:i?c:d(c)})},m.input.addEventListener("input",()=>c=void 0,{capture:!0}),m}function yt({model:e,el:t}){let r=he({model:e,el:t,title:"Ring all-reduce",describe:xt});r.css(Ye);let n=()=>Object.fromEntries(D.map(u=>[u,e.get(u)])),s=()=>{let{ranks:u,elements:h,seed:_}=n(),w=e.get("values");return w?.length===u&&w[0].length===h?w:Re(u,h,_)},o=()=>2*(e.get("ranks")-1),i=()=>Math.min(e.get("step"),o()),l=0,d=()=>l!==0,p=()=>{clearInterval(l),l=0,ae.textContent="Play"},c=u=>{p(),r.set(u)},m=u=>c("ranks"in u||"elements"in u||"seed"in u?{values:[],step:0,...u}:u),f=u=>c({step:Math.max(0,Math.min(o(),u))}),b=u=>c({...se,values:[],step:0,...u}),v=be({key:fe(t,"ring",e.get("link")),el:t,get:()=>({...n(),step:i(),...e.get("values")?.length?{values:e.get("values")}:{}}),put:u=>{typeof u=="string"?Object.hasOwn(L,u)&&b(L[u].set):Ke(u)&&b(u)}});r.defer(v.cleanup);let E=Object.entries(L).map(([u,h])=>M(h.label,()=>{b(h.set),v.href(u)&&history.replaceState(null,"",v.href(u))})),x=Object.fromEntries(D.filter(u=>u!=="seed").map(u=>[u,kt(u,e,m)])),P=M("Other numbers",()=>m({seed:ye("seed",e.get("seed")+1)?0:e.get("seed")+1})),g=a("p",{class:"ri-note",role:"status"}),y=Ve(),N=We(),O=a("div",{class:"ri-main"},y.node,N.node),j=a("div",{class:"ri-box"}),I=a("div",{class:"ri-box"});r.defer(y.stop);let X=()=>{p(),e.save_changes(),Me()},ae=M("Play",()=>{if(d())return X();i()>=o()&&e.set("step",0),l=setInterval(()=>{let u=i()+1;e.set("step",u),u>=o()&&X()},re()?1800:1100),ae.textContent="Pause"},{kind:"primary"});r.defer(()=>clearInterval(l));let R=()=>e.get("ranks")-1,$e=[M("|◂",()=>f(i()>R()?R():0),{name:"Phase before",title:"Phase before"}),M("◂",()=>f(i()-1),{name:"One step back",title:"One step back"}),M("▸",()=>f(i()+1),{name:"One step on",title:"One step on"}),M("▸|",()=>f(i()<R()?R():o()),{name:"Next phase",title:"Next phase"})],ze=ee({label:"step",min:0,max:1,value:0,format:u=>`${u} of ${o()}`,oninput:f}),Qe=a("div",{class:"ri-player"},te("Steps",[ae,...$e]),ze),Se=a("p",{class:"ri-head"});function et(u,h,_){let{ranks:w,elements:B}=u,T=u.size_mb*1e6/B,k=G(h.slice(0,_+1).flatMap(U=>U.messages),w),$=G(h.flatMap(U=>U.messages),w),Q=Xe($);C(j,a("p",{class:"ri-title"},"Counted: elements on each link so far, of all"),a("div",{class:"ri-links"},k.map((U,de)=>a("span",{},a("span",{},`${de} → ${(de+1)%w}`),a("b",{},`${U} of ${$[de]}`)))),a("p",{class:"ri-small"},`One element stands for ${S(T)}: so far ${ie(k)} of them, ${S(Math.max(...k)*T)}, on ${ie(k).includes("to")?"the busiest link":"each link"}; ${S(Xe(k)*T)} on all.`),a("p",{class:"ri-formula"},`counted: ${Q} ÷ ${w} links ÷ ${B} elements = ${F(Q/w/B)}`),a("p",{class:"ri-formula"},`formula: 2(K−1)/K = 2·${w-1}/${w} = ${F(Y(w))}`))}function tt(u){let h=oe(u),_=Math.max(...Object.values(h).map(k=>k.seconds)),w={ring:"ring",gather:"gather, send back",tree:"tree"},{ring:B}=h,T=(k,$)=>a("i",{class:k,style:{width:`${(100*$).toFixed(1)}%`}});C(I,a("p",{class:"ri-title"},`Time for ${Ze.size_mb(u.size_mb)}: bytes (solid) and latency (hatched)`),a("div",{class:"ri-bars"},Object.entries(h).map(([k,$])=>[a("span",{},w[k]),a("span",{class:"ri-track","aria-hidden":"true"},T("",$.bandwidth/_),T("late",$.latency/_)),a("span",{class:"ri-value"},z($.seconds))])),a("table",{class:"ri-costs"},a("thead",{},a("tr",{},["way","steps","busiest link","latency","for bytes"].map(k=>a("th",{scope:"col"},k)))),a("tbody",{},Object.entries(h).map(([k,$])=>a("tr",{},a("th",{scope:"row"},w[k]),[$.steps,S($.busiest),z($.latency),z($.bandwidth)].map(Q=>a("td",{},Q)))))),a("p",{class:"ri-formula"},`ring: 2(K−1)·α + 2(K−1)/K·N/β = ${z(B.latency)} + ${z(Y(u.ranks)*u.size_mb*1e6/(u.bandwidth_gbs*1e9))}`),a("p",{class:"ri-small"},`The bytes in all messages are the same three times, ${S(B.total)}; only the ring spreads them evenly. A rank has one link, with this bandwidth in each direction.${u.elements%u.ranks?" The chunks are uneven: a step waits for its longest message.":""}`))}let Z=!1,le=!0,Ae=0,ce=0;r.defer(()=>clearTimeout(ce));function _e(){Z=!1;let u=n(),h=i(),_=J(s());Object.values(x).forEach(k=>k.refresh());let w=e.get("values")?.length?void 0:qe(u);Object.keys(L).forEach((k,$)=>E[$].setAttribute("aria-pressed",String(k===w))),g.textContent!==(L[w]?.note??"")&&(g.textContent=L[w]?.note??""),g.hidden=!w,ze.update({max:o(),value:h}),$e.forEach((k,$)=>k.disable($<2?h===0:h>=o()));let B=_[h];Se.textContent=h===0?"Start: each rank holds its own numbers":B.phase===W?`Reduce-scatter, step ${h} of ${R()}: send one chunk, add what comes`:`All-gather, step ${h-R()} of ${R()}: send one chunk, store what comes`,O.classList.toggle("narrow",u.ranks<=6&&u.elements<=24),y.draw(_,h,!le&&h===Ae+1),N.draw(_,h),et(u,_,h),tt(u),Ae=h,clearTimeout(ce);let T=()=>r.say(Ge(u,s(),h));le?T():d()||(ce=setTimeout(T,250)),le=!1}let Me=()=>{Z||queueMicrotask(()=>Z&&_e()),Z=!0};for(let u of[...D,"values","step"])r.on(u,Me);return C(r.controls,a("div",{class:"ri-chips"},a("p",{class:"ri-title"},"Start from"),te("Presets",E)),a("div",{class:"ri-sliders"},Object.values(x)),a("div",{class:"ri-bar"},P,V("Copy as PyTorch",()=>He(s())),v)),C(r.stage,a("div",{class:"ri"},g,a("div",{class:"ri-box"},Qe,Se,O),a("div",{class:"ri-pair"},j,I))),_e(),r.cleanup}var ur={render:yt};export{ur as default};
