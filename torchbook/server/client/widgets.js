// Widgets of a page's kernel: each has a model in the page, which follows the kernel and which the kernel follows.

const REFERENCE = "IPY_MODEL_";

function put(state, paths = [], buffers = []) {
  paths.forEach((path, n) => {
    const parent = path.slice(0, -1).reduce((at, key) => (at[key] ??= {}), state);
    parent[path.at(-1)] = buffers[n];
  });
  return state;
}

// Traits that are binary go beside the message, by anywidget's and ipywidgets' custom.
function taken(state) {
  const binary = Object.entries(state).filter(([, value]) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer);
  const rest = Object.fromEntries(Object.entries(state).filter(([key]) => !binary.some(([name]) => name === key)));
  return { state: rest, buffer_paths: binary.map(([key]) => [key]), buffers: binary.map(([, value]) => value) };
}

class Model {
  constructor(id, state, widgets) {
    Object.assign(this, { id, state, widgets, changed: {}, handlers: [], answers: new Map() });
    this.widget_manager = { get_model: async (other) => widgets.model(other) };
  }

  get(name) {
    return this.state[name];
  }

  set(name, value) {
    this.put(typeof name === "object" ? name : { [name]: value }, this.changed);
    return this;
  }

  put(values, changed = {}) {
    const news = Object.entries(values).filter(([name, value]) => this.state[name] !== value);
    for (const [name, value] of news) this.state[name] = changed[name] = value;
    for (const [name, value] of news) this.trigger(`change:${name}`, this, value);
    if (news.length) this.trigger("change", this);
  }

  save_changes() {
    const { buffers, ...data } = taken(this.changed);
    this.changed = {};
    if (Object.keys(data.state).length || buffers.length) this.widgets.send(this.id, { method: "update", ...data }, buffers);
  }

  send(content, callbacks, buffers = []) {
    this.widgets.send(this.id, { method: "custom", content }, buffers);
  }

  on(names, callback, context) {
    for (const name of names.split(/\s+/)) this.handlers.push({ name, callback, context });
    return this;
  }

  once(names, callback, context) {
    const once = (...values) => (this.off(names, once), callback.apply(context ?? this, values));
    return this.on(names, once);
  }

  off(names, callback) {
    const gone = names?.split(/\s+/);
    this.handlers = this.handlers.filter((one) => (gone && !gone.includes(one.name)) || (callback && callback !== one.callback));
    return this;
  }

  trigger(name, ...values) {
    for (const one of this.handlers.filter((each) => each.name === name)) one.callback.apply(one.context ?? this, values);
    return this;
  }

  // anywidget's calls of methods in Python.
  invoke(name, message, { buffers = [] } = {}) {
    const id = crypto.randomUUID();
    return new Promise((resolve) => {
      this.answers.set(id, resolve);
      this.send({ id, kind: "anywidget-command", name, msg: message }, undefined, buffers);
    });
  }

  receive(content, buffers) {
    const answer = content?.kind === "anywidget-command-response" && this.answers.get(content.id);
    if (answer) {
      this.answers.delete(content.id);
      answer([content.response, buffers]);
    } else this.trigger("msg:custom", content, buffers);
  }
}

export class Widgets {
  constructor() {
    this.models = new Map();
  }

  // Messages of the kernel, which is there as long as `kernel` is set.
  take(type, { content, buffers = [] }) {
    const { comm_id: id, data = {} } = content;
    if (type === "comm_open" && content.target_name === "jupyter.widget") {
      this.models.set(id, new Model(id, put(data.state ?? {}, data.buffer_paths, buffers), this));
    }
    const model = this.models.get(id);
    if (!model) return;
    if (type === "comm_msg" && data.method === "update") model.put(put(data.state, data.buffer_paths, buffers));
    if (type === "comm_msg" && data.method === "custom") model.receive(data.content, buffers);
    if (type === "comm_close") this.models.delete(id);
  }

  send(id, data, buffers) {
    try {
      this.kernel?.send("shell", "comm_msg", { comm_id: id, data }, { buffers });
    } catch {
      // Python has ended: the figure goes on by itself.
    }
  }

  model(id) {
    return this.models.get(String(id).replace(REFERENCE, ""));
  }
}
