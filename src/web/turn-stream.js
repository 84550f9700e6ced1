import { Problem, request } from "./api.js";

/** One turn as the server tells it, from the request to the answer. */

const brokeOff = () => new Problem({ detail: "The connection broke off before the answer was complete.", code: "DISCONNECTED" });

/**
 * Yields the events of the stream as `{ event, data }`, last the `message`. The same body under the same key does nothing twice.
 * @throws Problem, also where the stream ends without an answer
 */
export async function* turnEvents({ body, key }, signal) {
  const response = await request("POST", "/v1/chat", {
    body,
    headers: { "Idempotency-Key": key, Accept: "text/event-stream" },
    signal,
  });
  for await (const { event, data } of eventsIn(response.body)) {
    if (event === "error") throw new Problem(data);
    yield { event, data };
    if (event === "message") return;
  }
  throw brokeOff();
}

async function* eventsIn(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const lines = block.split("\n");
        const event = lines.find((line) => line.startsWith("event: "))?.slice(7);
        const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
        if (event && data) yield { event, data: JSON.parse(data) };
      }
    }
  } catch (error) {
    throw error.name === "AbortError" || error instanceof Problem ? error : brokeOff();
  }
}
