/** Style of the tokens: each has a border and its id below; hues only repeat that neighbours differ. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tk{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .tk-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .tk-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tk-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.tk-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .tk-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.tk-text{flex:1 1 16rem}
.tbviz .tk-text textarea{font:1em/1.4 ${MONO};width:100%;min-height:4.4rem;resize:vertical;color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:6px;padding:.35rem .55rem;margin:0}
.tk-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.tk-player{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}
.tk-player .tbviz-slider{flex:1 1 11rem;grid-template-columns:auto minmax(4rem,1fr) 5.2rem}
.tk-player output{white-space:nowrap}
.tk-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tk-facts{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;font-size:max(12px,.9em);font-variant-numeric:tabular-nums}
.tk-facts b{font-weight:650}
.tk-run{display:flex;flex-wrap:wrap;gap:.45rem .5rem;max-height:19rem;overflow-y:auto;padding:3px;position:relative}
.tk-piece{display:inline-flex;flex-wrap:wrap;gap:2px;border-bottom:2px solid var(--tb-edge);padding-bottom:3px;min-width:0}
.tk-piece.on{border-bottom:4px solid var(--tb-fg);padding-bottom:1px}
.tk-piece.lone{border-bottom-style:dashed}
.tbviz .tk-token{font:max(12px,.95em)/1.25 ${MONO};display:inline-flex;flex-direction:column;align-items:center;gap:1px;min-width:1.6rem;min-height:1.6rem;max-width:100%;overflow-wrap:anywhere;
color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:4px;padding:1px 4px;margin:0;cursor:pointer;touch-action:manipulation;white-space:pre-wrap}
.tk-token small{font:max(12px,.74em)/1.2 system-ui,sans-serif;color:inherit;font-variant-numeric:tabular-nums}
.tbviz .tk-token.h0{background:var(--tb-accent-soft);border-color:var(--tb-accent)}
.tbviz .tk-token.h1{background:var(--tb-warm-soft);border-color:var(--tb-warm)}
.tbviz .tk-token.h2{background:var(--tb-good-soft);border-color:var(--tb-good)}
.tbviz .tk-token.h3{background:var(--tb-violet-soft);border-color:var(--tb-violet)}
.tbviz .tk-token.byte{background:var(--tb-bg);border-style:dashed;border-color:var(--tb-edge)}
.tbviz .tk-token.special{border-width:3px;border-style:double}
.tbviz .tk-token[aria-pressed=true]{outline:3px solid var(--tb-fg);outline-offset:-1px;font-weight:700}
.tbviz .tk-token:focus-visible{outline:3px solid var(--tb-accent);outline-offset:2px}
.tk-main{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:720px){.tk-main{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.tk-chain{display:flex;flex-wrap:wrap;gap:.35rem .25rem;align-items:center;font:max(12px,.95em) ${MONO}}
.tk-part{border:1px solid var(--tb-edge);border-radius:4px;padding:1px 5px;overflow-wrap:anywhere}
.tk-part.new{border:2.5px solid var(--tb-fg);font-weight:700}
.tk-rank{font:max(12px,.78em) system-ui,sans-serif;color:var(--tb-muted);padding:1px 4px;border:1px solid transparent;border-radius:99px;font-variant-numeric:tabular-nums}
.tk-rank.is{color:var(--tb-fg);border-color:var(--tb-edge)}
.tk-rank.next{background:var(--tb-accent);color:var(--tb-on-accent);border-color:var(--tb-accent);font-weight:700}
.tbviz .tk-lines{margin:0;display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem .7rem;font-size:max(12px,.92em)}
.tk-lines dt{color:var(--tb-muted);font-weight:400;margin:0}
.tk-lines dd{margin:0;font-family:${MONO};font-size:max(12px,.95em);overflow-wrap:anywhere}
.tk-scroll{position:relative;overflow:auto;max-height:16rem;max-width:100%;min-width:0}
.tbviz .tk-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .tk-table tr{background:none;border:0}
.tbviz .tk-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.15rem .45rem;text-align:left;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .tk-table thead th{color:var(--tb-muted);white-space:nowrap}
.tbviz .tk-table td{white-space:nowrap}
.tbviz .tk-table .n{text-align:right}
.tbviz .tk-table .m{font-family:${MONO}}
.tbviz .tk-table tr.on>*{background:var(--tb-fill);font-weight:650}
`;
