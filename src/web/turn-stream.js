import { Problem, request } from "./api.js";
import { eventsIn } from "./event-stream.js";

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
  try {
    for await (const { event, data } of eventsIn(response.body)) {
      if (event === "error") throw new Problem(data);
      yield { event, data };
      if (event === "message") return;
    }
  } catch (error) {
    throw error.name === "AbortError" || error instanceof Problem ? error : brokeOff();
  }
  throw brokeOff();
}
