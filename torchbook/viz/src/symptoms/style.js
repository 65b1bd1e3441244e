/** Style of the list of symptoms. */

export const CSS = `
.sy-search{display:flex;flex:1 1 100%}
.sy-search>input{width:100%;min-height:2.4rem;font-size:1em}
.sy-bar{display:flex;flex-wrap:wrap;gap:.45rem .8rem;align-items:center;flex:1 1 100%}
.sy-bar .tbviz-toolbar>.tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .sy-count{font-size:max(12px,.86em);color:var(--tb-muted);margin-bottom:.3rem}
.sy-list{overflow:hidden;border:1px solid var(--tb-line);border-radius:8px}
.sy-list:empty{display:none}
.sy-item+.sy-item{border-top:1px solid var(--tb-line)}
.sy-item>summary{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1rem .7rem;padding:.5rem .7rem;cursor:pointer;list-style:none}
.sy-item>summary::-webkit-details-marker{display:none}
.sy-item>summary:hover{background:var(--tb-fill)}
.sy-item>summary:focus-visible{outline-offset:-3px}
.sy-item[open]>summary{background:var(--tb-accent-soft)}
.sy-name{font-weight:650}
.sy-kind{color:var(--tb-muted);font-size:max(12px,.82em);white-space:nowrap}
.sy-kind::after{content:" ▸"}
.sy-item[open] .sy-kind::after{content:" ▾"}
.sy-first{grid-column:1/-1}
.sy-body{display:flex;flex-direction:column;gap:.5rem;padding:.6rem .7rem .8rem}
.sy-code{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-start}
.sy-code>pre{flex:1 1 14rem;min-width:0;overflow-x:auto;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.45rem .6rem;white-space:pre}
.tbviz .sy-body a{color:var(--tb-accent);text-decoration:underline}
@container (max-width:560px){.sy-bar .tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;padding:4px}.sy-bar .tbviz-button{flex:none}.sy-item:not([open]) .sy-first{display:none}.sy-item:not([open]) .sy-kind{font-size:0}.sy-kind::after{font-size:12px}.sy-item>summary{align-items:center}}
`;
