/** A small Pratt parser for scalar expressions. It builds a tree and never evaluates text. */

export const FUNCTIONS = { exp: 1, log: 1, sqrt: 1, sin: 1, cos: 1, tanh: 1, sigmoid: 1, relu: 1, pow: 2, max: 2 };
// Names that the copied PyTorch code uses itself, and words of Python.
const TAKEN = new Set(`torch out and as assert async await break class continue def del elif else except False finally for from
global if import in is lambda None nonlocal not or pass print raise return True try while with yield`.split(/\s+/));
const LONGEST = 300;
const DEEPEST = 60;
const MOST = 80;

/** What is wrong with an expression, and at which character. */
export class ParseError extends Error {
  constructor(message, at) {
    super(message);
    this.name = "ParseError";
    this.at = at;
  }
}

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),]))/y;

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim()) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      const at = from + text.slice(from).search(/\S/);
      throw new ParseError(`“${[...text.slice(at)][0]}” means nothing here`, at);
    }
    const [all, number, name, sign] = match;
    const body = number ?? name ?? sign;
    const at = from + all.length - body.length;
    if (number !== undefined) found.push({ kind: "number", text: body, at });
    else if (name !== undefined) found.push({ kind: "name", text: body, at });
    else found.push({ kind: "sign", text: body === "**" ? "^" : body, at });
  }
  found.push({ kind: "end", text: "", at: text.length });
  return found;
}

const INFIX = { "+": 10, "-": 10, "*": 20, "/": 20, "^": 40 };
const UNARY = 30; // between * and ^, as in Python: -a^2 is -(a^2)

/**
 * The tree of an expression.
 * @param {string} text
 * @returns {object} `{kind: "number", value}`, `{kind: "name", name}` or `{kind: "call", name, args}`, each with `at`
 * @throws {ParseError}
 */
export function parse(text) {
  if (text.length > LONGEST) throw new ParseError(`at most ${LONGEST} characters`, LONGEST);
  const list = tokens(text);
  let here = 0;
  let calls = 0;
  const peek = () => list[here];
  const next = () => list[here++];

  const call = (name, args, at) => {
    calls += 1;
    if (calls > MOST) throw new ParseError(`at most ${MOST} operations`, at);
    return { kind: "call", name, args, at };
  };

  const expect = (sign, why) => {
    const token = peek();
    if (token.text !== sign || token.kind !== "sign") {
      throw new ParseError(`“${sign}” is missing ${why}${token.kind === "end" ? "" : `, before “${token.text}”`}`, token.at);
    }
    return next();
  };

  const operand = (depth) => {
    if (depth > DEEPEST) throw new ParseError(`nested more than ${DEEPEST} deep`, peek().at);
    const token = next();
    if (token.kind === "number") return { kind: "number", value: Number(token.text), at: token.at };
    if (token.kind === "name") return named(token, depth);
    if (token.text === "(") {
      const inner = expression(0, depth + 1);
      expect(")", `for the “(” at character ${token.at + 1}`);
      return inner;
    }
    if (token.text === "-") {
      const inner = expression(UNARY, depth + 1);
      return inner.kind === "number" ? { ...inner, value: -inner.value, at: token.at } : call("neg", [inner], token.at);
    }
    if (token.text === "+") return expression(UNARY, depth + 1);
    if (token.kind === "end") {
      throw new ParseError(list.length === 1 ? "type an expression, for example a*b" : "something is missing at the end", token.at);
    }
    throw new ParseError(`a value is missing before “${token.text}”`, token.at);
  };

  const named = (token, depth) => {
    const count = Object.hasOwn(FUNCTIONS, token.text) ? FUNCTIONS[token.text] : 0;
    const opens = peek().text === "(";
    if (!count && opens) {
      throw new ParseError(`there is no function “${token.text}” here; there are ${Object.keys(FUNCTIONS).join(", ")}`, token.at);
    }
    if (TAKEN.has(token.text) || token.text.startsWith("__") || token.text.length > 12) {
      throw new ParseError(`“${token.text}” cannot be the name of a variable here`, token.at);
    }
    if (!count) return { kind: "name", name: token.text, at: token.at };
    if (!opens) throw new ParseError(`“${token.text}” is a function: write ${token.text}(…)`, token.at);
    next();
    const args = [expression(0, depth + 1)];
    while (peek().text === ",") {
      next();
      args.push(expression(0, depth + 1));
    }
    if (args.length !== count) {
      throw new ParseError(`${token.text} takes ${count === 1 ? "one value" : "two values"}, not ${args.length}`, token.at);
    }
    expect(")", `after what ${token.text} is given`);
    return call(token.text, args, token.at);
  };

  const expression = (least, depth) => {
    let left = operand(depth);
    for (;;) {
      const token = peek();
      const power = token.kind === "sign" ? INFIX[token.text] : undefined;
      if (power === undefined || power < least) return left;
      next();
      const right = expression(token.text === "^" ? UNARY : power + 1, depth + 1);
      left = call({ "+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow" }[token.text], [left, right], token.at);
    }
  };

  const tree = expression(0, 0);
  const rest = peek();
  if (rest.kind === "end") return tree;
  if (rest.text === ")") throw new ParseError("this “)” closes nothing", rest.at);
  if (rest.text === ",") throw new ParseError("a comma only separates what pow or max is given", rest.at);
  throw new ParseError(`an operator is missing before “${rest.text}”, for example *`, rest.at);
}
