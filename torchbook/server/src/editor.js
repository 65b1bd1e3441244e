// The editor of a cell, as `make viz` bundles it into ../client/editor.js: Python, and no more than a cell needs.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// Opens an editor in an element. `run` is called for Shift+Enter, `leave` for Escape, `changed` with each new text.
export function open(parent, { text, label, run, leave, changed }) {
  const own = (action) => () => (action(), true);
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([
          { key: "Shift-Enter", run: own(run) },
          { key: "Escape", run: own(leave) },
        ]),
        history(),
        drawSelection(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        python(),
        syntaxHighlighting(classHighlighter),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    focus: () => view.focus(),
    write: (now) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } }),
    close: () => view.destroy(),
  };
}
