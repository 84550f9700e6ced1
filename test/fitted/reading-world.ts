import { onTestFinished } from "vitest";
import { startWorld, tempDir } from "../e2e/world.js";
import { type ChatBody, OpenAIStub, type StubAnswer } from "../support/openai-stub.js";
import { taskOf } from "./task-of.js";

/** The whole product over a scripted server on loopback. */
export async function readingWorld(
  read: (body: ChatBody) => StubAnswer,
  {
    variables = {},
    dir,
    turn = () => ({ text: "Very well." }),
  }: {
    readonly variables?: Readonly<Record<string, string>>;
    /** Default: a new one. */
    readonly dir?: string;
    readonly turn?: (body: ChatBody) => StubAnswer;
  } = {},
) {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  stub.chatOtherwise((body) => {
    const task = taskOf(body);
    return task === "reading" ? read(body) : task === "title" ? { text: "An evening out" } : turn(body);
  });
  const env = { OPENAI_BASE_URL: stub.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", ...variables };
  const world = await startWorld(dir ?? (await tempDir()), env);
  const chats = () => stub.requests.filter(({ path }) => path === "/chat/completions").map(({ body }) => body as ChatBody);
  const readings = () => chats().filter((body) => taskOf(body) === "reading");
  const client = world.as("ada");
  const written = async () => {
    await world.application.parts.worker.drain(20_000);
    return world.application.parts.store.turns.counts();
  };
  const memories = async (status: "active" | "review" = "active") =>
    (await client.get<{ data: { text: string; need: string | null }[] }>(`/v1/memories?status=${status}`)).body.data;
  return { stub, world, client, chats, readings, written, memories };
}
