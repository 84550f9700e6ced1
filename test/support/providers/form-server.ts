import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chatWire } from "./chat-wire.js";
import type { Form, FormBody, FormPart } from "./forms.js";
import { problemsOf, type WireAnswer } from "./wire.js";

export interface FormServer {
  readonly url: string;
  readonly bodies: FormBody[];
  readonly problems: string[];
  close(): Promise<void>;
}

/**
 * A provider of one form that plays a small concierge: it greets, searches for each city that it is asked for when it has tools, looks up what
 * it is told to, tells what was found, and answers with JSON when that is asked of it in a way that it understands. `reads`: of a message to read it notes nothing;
 * else it answers with other JSON.
 */
export async function openFormServer(form: Form, { reads = false }: { readonly reads?: boolean } = {}): Promise<FormServer> {
  const bodies: FormBody[] = [];
  const problems: string[] = [];
  const server = createServer((request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    // It lists no models.
    if (request.method === "GET") {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as FormBody;
    const refusal = form.refuses?.(body, bodies.length) ?? null;
    bodies.push(body);
    if (refusal !== null) {
      const [status, told] = refusal;
      return void response
        .writeHead(status, { "content-type": typeof told === "string" ? "text/plain" : "application/json" })
        .end(typeof told === "string" ? told : JSON.stringify(told));
    }
    const said = chatWire.read(body as never, "");
    problems.push(...problemsOf(form.takesNoTools ? { ...said, tools: ["none"] } : said, form.name.includes("40") ? 40 : 200));
    const answer = answerTo(body, form, reads);
    if (body.stream !== true || form.neverStreams)
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(wholeOf(answer, form)));
    response.writeHead(200, { "content-type": form.contentType ?? "text/event-stream" }).end(`${eventsOf(answer, form).join("\n\n")}\n\n`);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    problems,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function answerTo(body: FormBody, form: Form, reads: boolean): WireAnswer {
  const all = JSON.stringify(body.messages);
  if (reads && all.includes('\\"MESSAGE\\":')) return { text: '{"off_record":null,"operations":[]}' };
  const inWords = all.includes("JSON Schema");
  if (inWords || (body.response_format !== undefined && !form.ignoresFormat)) return { text: '{"city":"Vienna"}' };
  const last = body.messages.findLastIndex(({ role }) => role === "user");
  const asked = String(body.messages[last]?.content);
  if (body.messages.slice(last).some(({ role }) => role === "tool")) return { text: "Tosca, on Friday." };
  if (asked.includes("Use the tool") && body.tools !== undefined) return { calls: [{ name: "look_up", arguments: { place: "library" } }] };
  const cities = ["Vienna", "Graz"].filter((city) => asked.includes(city));
  if (cities.length === 0) return { text: "Good evening." };
  if (body.tools === undefined) return { text: "I can't search here." };
  return { calls: cities.map((city) => ({ name: "search", arguments: { city } })) };
}

function textOf(answer: WireAnswer, form: Form): readonly string[] {
  const text = answer.calls && form.callsAsText ? form.callsAsText(answer.calls) : String(answer.text ?? "");
  return text === "" ? [] : (form.text?.(text) ?? [text.slice(0, 5), text.slice(5)]);
}

function fragments(calls: NonNullable<WireAnswer["calls"]>): FormPart[] {
  return calls.flatMap((call, index) => {
    const text = JSON.stringify(call.arguments);
    return [
      { index, id: `call_${index}`, type: "function", function: { name: call.name, arguments: "" } },
      { index, function: { arguments: text.slice(0, 6) } },
      { index, function: { arguments: text.slice(6) } },
    ];
  });
}

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };

function eventsOf(answer: WireAnswer, form: Form): string[] {
  const base = { id: "c", object: "chat.completion.chunk", created: 0, model: "m" };
  const chunk = (delta: object, more: object = {}) => ({ ...base, choices: [{ index: 0, delta, ...more }] });
  const calls = form.callsAsText ? [] : (answer.calls ?? []);
  const finish = form.finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : form.finish;
  const parts = calls.length === 0 ? [] : (form.parts ?? fragments)(calls);
  const usage = form.usage ?? "own chunk";
  const pieces: object[] = [
    chunk({ role: "assistant", content: "" }),
    ...(form.thought === undefined ? [] : [chunk({ reasoning_content: form.thought })]),
    ...textOf(answer, form).map((content) => chunk({ content })),
    ...parts.map((part) => chunk({ tool_calls: [part] })),
    ...(finish === null
      ? []
      : [
          {
            ...chunk({}, { finish_reason: finish }),
            ...(usage === "with the finish" && { usage: USAGE }),
            ...(usage === "null" && { usage: null }),
          },
        ]),
    ...(usage === "own chunk" ? [{ ...base, choices: [], usage: USAGE }] : []),
  ];
  return [
    ...(form.prelude ?? []),
    ...pieces.map((piece) => `data: ${JSON.stringify(piece)}`),
    ...(form.done === false ? [] : ["data: [DONE]"]),
  ];
}

function wholeOf(answer: WireAnswer, form: Form): object {
  const calls = form.callsAsText ? [] : (answer.calls ?? []);
  const parts = calls.map((call, index) => ({
    id: `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const told = wholeParts(form.parts?.(calls) ?? parts);
  const message = {
    role: "assistant",
    content: textOf(answer, form).join("") || null,
    ...(form.thought !== undefined && { reasoning_content: form.thought }),
    ...(calls.length > 0 && { tool_calls: told }),
  };
  const finish = form.finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : form.finish;
  return {
    id: "c",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(form.usage !== "none" && { usage: form.usage === "null" ? null : USAGE }),
  };
}

/** Pieces of one call as one. */
function wholeParts(parts: readonly FormPart[]): readonly FormPart[] {
  const calls: FormPart[] = [];
  for (const part of parts) {
    const last = calls.at(-1);
    if (part.function.name === undefined && last !== undefined) last.function.arguments = part.function.arguments;
    else calls.push({ ...part, function: { ...part.function } });
  }
  return calls;
}
