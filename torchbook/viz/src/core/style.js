/**
 * Style of all figures, injected once in each root, so that it is the same on the page, in Jupyter and in Colab's frame.
 *
 * Colours are variables: `--tb-bg`, `--tb-fg`, `--tb-muted`, `--tb-line` (decoration), `--tb-edge` (3:1, edges of controls), `--tb-fill`
 * (panels), and hues `accent`, `warm`, `good`, `bad`, `violet`: `--tb-<hue>` is text on `--tb-bg` or on `--tb-<hue>-soft`.
 */

const LIGHT = `color-scheme:light;
--tb-bg:#fff;--tb-fg:#1b1f24;--tb-muted:#57606a;--tb-line:#d3d9df;--tb-edge:#7d8791;--tb-fill:#f4f6f8;
--tb-accent:#0b57a4;--tb-accent-soft:#dcebfb;--tb-on-accent:#fff;--tb-warm:#974205;--tb-warm-soft:#fde9d8;
--tb-good:#14653a;--tb-good-soft:#dbf3e4;--tb-bad:#a81c2b;--tb-bad-soft:#fde3e5;--tb-violet:#653a99;--tb-violet-soft:#ece2f9;`;

const DARK = `color-scheme:dark;
--tb-bg:#15181c;--tb-fg:#e7eaed;--tb-muted:#a7b0ba;--tb-line:#373e46;--tb-edge:#7f8a95;--tb-fill:#1e2329;
--tb-accent:#86bdff;--tb-accent-soft:#16385c;--tb-on-accent:#0d1a28;--tb-warm:#ffb784;--tb-warm-soft:#4a2c15;
--tb-good:#84dda8;--tb-good-soft:#163c28;--tb-bad:#ffa0a6;--tb-bad-soft:#4e1d22;--tb-violet:#d0b0ff;--tb-violet-soft:#382754;`;

const inside = (...marks) => marks.map((mark) => `${mark} .tbviz`).join(",");

export const CSS = `
.tbviz{${LIGHT}}
@media (prefers-color-scheme:dark){.tbviz{${DARK}}}
${inside("[data-theme=light]", "[data-jp-theme-light=true]", ".vscode-light", "html[theme=light]")}{${LIGHT}}
${inside("[data-theme=dark]", "[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast:not(.vscode-high-contrast-light)", "html[theme=dark]")}{${DARK}}
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
.tbviz-lighting [data-part]:not(.tbviz-lit){opacity:.25}
@media (prefers-reduced-motion:no-preference){.tbviz-button{transition:background .12s,border-color .12s}[data-part]{transition:opacity .15s}
.tbviz-moving :is(rect,circle,path,g,line){transition:x .38s,y .38s,width .38s,height .38s,cx .38s,cy .38s,d .38s,transform .38s,opacity .38s,fill .2s,stroke .2s}
@starting-style{.tbviz-moving :is(rect,circle,path,g,line){opacity:0}}}
.tbviz :is(sup,sub,small){font-size:max(12px,.8em)}
.tbviz-grip{cursor:grab;touch-action:none}
.tbviz-grip:active{cursor:grabbing}
.tbviz-grip.tbviz-across{cursor:ew-resize}
.tbviz-reach{fill:transparent}
.tbviz-body{fill:var(--tb-grip,var(--tb-accent));stroke:var(--tb-bg);stroke-width:2}
.tbviz-ring{fill:none;stroke:none;stroke-width:3}
.tbviz-grip:hover .tbviz-ring{stroke:color-mix(in srgb,var(--tb-grip,var(--tb-accent)) 45%,transparent)}
.tbviz .tbviz-grip:focus-visible{outline:none}
.tbviz-grip:focus-visible .tbviz-ring{stroke:var(--tb-fg)}
.tbviz-dots,.tbviz-sideways{fill:none;stroke:var(--tb-bg);stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round;pointer-events:none}
.tbviz-sideways{stroke:var(--tb-accent);stroke-width:1.6}
@container (max-width:560px){.tbviz-bar>.tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;max-width:100%;padding:4px;margin:-4px;scrollbar-width:none}.tbviz-bar .tbviz-button{flex:none}
.tbviz-bar>.tbviz-toolbar>.tbviz-button{flex:0 1 auto;padding-inline:.5rem;line-height:1.15;text-wrap:balance;min-height:44px}}
.tbviz-before{mask-image:linear-gradient(to right,transparent,#000 2.2rem)}
.tbviz-after{mask-image:linear-gradient(to left,transparent,#000 2.2rem)}
.tbviz-before.tbviz-after{mask-image:linear-gradient(to right,transparent,#000 2.2rem calc(100% - 2.2rem),transparent)}
@media (max-width:600px){.tbviz{margin:.15rem 0}}
@media (max-width:480px){.tbviz{padding:.35rem .6rem;gap:.3rem;line-height:1.38}.tbviz-bar{gap:.35rem .5rem}.tbviz-finding{font-size:1rem;line-height:1.2}}
@media (pointer:coarse){.tbviz :is(.tbviz-button,select,input,summary){min-height:44px!important;min-width:44px}}
.tbviz-drawn{touch-action:pan-y pinch-zoom}
@media (pointer:coarse){.tbviz-cells :is([role=gridcell],.tbviz-small){pointer-events:none;cursor:inherit}}
@media print{.tbviz-bar,.tbviz-invitation,.tbviz-drawer{display:none}}
@media (forced-colors:active){.tbviz-button[aria-pressed=true]{border-width:3px}}
`;
