// A kernel behind a Jupyter server: how it starts, runs code and ends, by Jupyter's own messages over one WebSocket.

const VERSION = "5.3";
const cookie = (name) => document.cookie.split("; ").find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);

// A message as it comes: JSON, or, with buffers, their count, their places, JSON and the buffers themselves.
export function unpacked(data) {
  if (typeof data === "string") return JSON.parse(data);
  const view = new DataView(data);
  const count = view.getUint32(0);
  const places = Array.from({ length: count }, (_, n) => view.getUint32(4 * (n + 1)));
  const parts = places.map((from, n) => data.slice(from, places[n + 1] ?? data.byteLength));
  const message = JSON.parse(new TextDecoder().decode(parts[0]));
  message.buffers = parts.slice(1).map((part) => new DataView(part));
  return message;
}

export function packed({ buffers = [], ...message }) {
  if (!buffers.length) return JSON.stringify(message);
  const raw = (one) => (ArrayBuffer.isView(one) ? new Uint8Array(one.buffer, one.byteOffset, one.byteLength) : new Uint8Array(one));
  const parts = [new TextEncoder().encode(JSON.stringify(message)), ...buffers.map(raw)];
  const head = 4 * (parts.length + 1);
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, head));
  const view = new DataView(whole.buffer);
  view.setUint32(0, parts.length);
  parts.reduce((at, part, n) => {
    view.setUint32(4 * (n + 1), at);
    whole.set(part, at);
    return at + part.byteLength;
  }, head);
  return whole.buffer;
}

export class KernelGone extends Error {}

export class Kernel {
  // `server`: { base: address of the Jupyter server, token: where it is not this page's own }.
  // `comm` is told messages about widgets, `gone` why the kernel is no longer there.
  constructor(server, { comm = () => {}, gone = () => {} } = {}) {
    Object.assign(this, { server, comm, gone, id: "", session: crypto.randomUUID?.() ?? String(Math.random()) });
    this.waiting = new Map(); // message id -> { output, resolve, reject, reply, idle }
  }

  async ask(path, method = "GET", body = undefined, options = {}) {
    const { base, token } = this.server;
    const headers = token ? { Authorization: `token ${token}` } : { "X-XSRFToken": cookie("_xsrf") ?? "" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }), ...options };
    const answer = await fetch(new URL(path, base), sent);
    if (!answer.ok) throw new Error(await said(answer));
    return answer.status === 204 ? undefined : answer.json();
  }

  get running() {
    return Boolean(this.id);
  }

  async start() {
    const { id } = await this.ask("api/kernels", "POST", {});
    this.id = id;
    await this.connect();
  }

  connect() {
    const { base, token } = this.server;
    const address = new URL(`api/kernels/${this.id}/channels`, base);
    address.protocol = address.protocol.replace("http", "ws");
    address.searchParams.set("session_id", this.session);
    if (token) address.searchParams.set("token", token);
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onmessage = ({ data }) => this.take(unpacked(data));
    socket.onclose = () => socket === this.socket && this.lost("The connection to Python was lost");
    return new Promise((done, failed) => {
      socket.onopen = done;
      socket.onerror = () => failed(new Error("the server does not let this page talk to Python"));
    });
  }

  send(channel, type, content, { buffers = [], metadata = {} } = {}) {
    if (!this.running || this.socket.readyState !== WebSocket.OPEN) throw new KernelGone("Python is not running");
    const id = crypto.randomUUID?.() ?? String(Math.random());
    const date = new Date().toISOString();
    const header = { msg_id: id, msg_type: type, username: "", session: this.session, date, version: VERSION };
    this.socket.send(packed({ channel, header, parent_header: {}, metadata, content, buffers }));
    return id;
  }

  // Runs code; `output` is told each message of it. Resolves to the reply once all output has come.
  run(code, { output = () => {}, silent = false, expressions = {} } = {}) {
    return new Promise((resolve, reject) => {
      const id = this.send("shell", "execute_request", {
        code,
        silent,
        store_history: !silent,
        user_expressions: expressions,
        allow_stdin: false,
        stop_on_error: true,
      });
      this.waiting.set(id, { output, resolve, reject });
    });
  }

  take(message) {
    const { channel, content, parent_header: parent } = message;
    const type = message.header.msg_type;
    const state = type === "status" ? content.execution_state : "";
    if (state === "restarting" || state === "dead") return this.lost("Python has ended: a cell used too much memory, or crashed it");
    if (type.startsWith("comm_")) this.comm(type, message);
    const one = this.waiting.get(parent.msg_id);
    if (!one) return;
    if (channel === "shell" && type === "execute_reply") one.reply = content;
    else if (state === "idle") one.idle = true;
    else if (channel === "iopub" && !state) one.output(type, content);
    if (!one.reply || !one.idle) return;
    this.waiting.delete(parent.msg_id);
    one.resolve(one.reply);
  }

  lost(why) {
    if (!this.running) return;
    const { waiting } = this;
    this.waiting = new Map();
    this.stop();
    waiting.forEach(({ reject }) => reject(new KernelGone(why)));
    this.gone(why);
  }

  interrupt() {
    return this.ask(`api/kernels/${this.id}/interrupt`, "POST", {});
  }

  // Ends the kernel; also while the page is being left.
  async stop() {
    const { id, socket } = this;
    this.id = "";
    this.socket = undefined;
    socket?.close();
    this.waiting.forEach(({ reject }) => reject(new KernelGone("Python was restarted")));
    this.waiting.clear();
    const end = () => this.ask(`api/kernels/${id}`, "DELETE", undefined, { keepalive: true });
    // The server starts a kernel that has died anew, and ends none that is just starting.
    if (id) await end().catch(() => setTimeout(() => end().catch(() => {}), 3000));
  }
}

async function said(answer) {
  try {
    return (await answer.json()).message || answer.statusText;
  } catch {
    return answer.statusText || `the server answered ${answer.status}`;
  }
}
