/** Style of the table of symptoms, which stands in the page as its own tables do. */

export const CSS = `
.tbviz.sy{border:0;border-radius:0;padding:.2rem .5rem}
.sy-bar{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.45rem .8rem;align-items:end}
.sy-bar .tbviz-field{display:flex}
.sy-bar :is(input,select){width:100%;height:2.4rem}
.tbviz .sy-count{font-size:max(12px,.86em);color:var(--tb-muted);margin:.35rem 0}
.tbviz .sy-table{display:table;width:100%;table-layout:fixed;border-collapse:collapse;margin:0;font-size:max(12px,.94em);background:none;color:var(--tb-fg)}
.tbviz .sy-table tr{background:none;border:0}
.tbviz .sy-table :is(th,td){border:0;border-bottom:1px solid var(--tb-line);padding:0;text-align:left;vertical-align:top;background:none;color:inherit;font-weight:400}
.tbviz .sy-table thead th{font-weight:650;padding:.3rem .5rem;border-bottom:2px solid var(--tb-edge)}
.tbviz .sy-table :is(thead th,tbody th):first-child{width:40%}
.tbviz .sy-item>tr:first-child>td{padding:.4rem .5rem}
.tbviz .sy-name{display:flex;gap:.5rem;width:100%;height:100%;min-height:2.2rem;padding:.4rem .5rem;border:0;border-radius:0;background:none;color:var(--tb-fg);text-align:left;font:inherit;font-weight:650;line-height:1.35;cursor:pointer}
.sy-name::before{content:"▸";color:var(--tb-muted);flex:none}
.sy-name[aria-expanded=true]::before{content:"▾"}
.sy-item>tr:first-child:hover{background:var(--tb-fill)}
.tbviz .sy-open>tr>:is(th,td){background:var(--tb-accent-soft)}
.tbviz .sy-open>tr:last-child>td{background:none}
.tbviz .sy-name:focus-visible{outline-offset:-3px}
.sy-body{display:flex;flex-direction:column;gap:.5rem;padding:.6rem .5rem .8rem}
.sy-code{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-start}
.sy-code>pre{flex:1 1 14rem;min-width:0;overflow-x:auto;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.45rem .6rem;white-space:pre}
.tbviz .sy-body a{color:var(--tb-accent);text-decoration:underline}
.sy-brief{display:none}
@media (prefers-reduced-motion:no-preference){.sy-body{animation:sy-in .3s}}
@keyframes sy-in{from{opacity:0}}
@container (max-width:560px){
.tbviz .sy-table :is(thead th,tbody th):first-child{width:100%}
.tbviz .sy-table thead th:last-child,.tbviz .sy-item>tr:first-child>td{display:none}
.sy-brief{display:block}
}
@media (pointer:coarse){.tbviz .sy-name{min-height:44px;align-items:center}}
`;
