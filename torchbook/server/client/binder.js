// Python on a Binder, where the reader asks for it: a dialog says what that means before anything is sent.

const SAID = {
  waiting: "waits for its turn",
  fetching: "fetches the book",
  building: "builds the book's environment",
  pushing: "stores the book's environment",
  launching: "starts Python",
};

// Asks the reader; true where they agree.
export function agreed(build, make) {
  const { host } = new URL(build);
  const dialog = make("dialog", { className: "live-dialog" });
  const title = make("h2", { text: `Run the cells on ${host}?`, id: "live-dialog-title" });
  const words = make("p", {
    text: `The code of the cells that you run is sent to ${host}, which runs it on a machine of its own with 2 GB of memory, and no GPU. ` +
      "Starting it takes a minute, or several if the book was not used there for a while. Progress on exercises is not kept here.",
  });
  return new Promise((resolve) => {
    const answer = (value) => () => (dialog.close(), dialog.remove(), resolve(value));
    const yes = make("button", { text: `Start on ${host}`, press: answer(true) });
    const no = make("button", { text: "Cancel", press: answer(false) });
    dialog.setAttribute("aria-labelledby", title.id);
    dialog.append(title, words, make("div", { className: "live live-tools" }, yes, no));
    dialog.addEventListener("cancel", answer(false));
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

// Starts the server: { base, token } as a kernel takes it. `said` is told in words what happens.
export function started(build, said) {
  const { host } = new URL(build);
  return new Promise((resolve, reject) => {
    const events = new EventSource(build);
    const fail = (why) => (events.close(), reject(new Error(`${host} did not start: ${why}`)));
    events.onerror = () => fail("it cannot be reached");
    events.onmessage = ({ data }) => {
      const { phase, message = "", url, token } = JSON.parse(data);
      if (phase === "failed") return fail(message.trim() || "it does not say why");
      if (phase !== "ready") return said(`${host} ${SAID[phase] ?? "prepares"}…`);
      events.close();
      resolve({ base: new URL(url), token });
    };
  });
}
