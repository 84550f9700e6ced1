import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import type { Contestant, Prepared, Setting } from "../contestant.js";
import { expectFound, INSTRUCTIONS, messageOf, roundOf, roundsOf, type Said, WINDOW_MESSAGES } from "../data.js";
import { load } from "../load.js";

/** The parts of LangChain that are used. */
interface Message {
  readonly type: string;
  readonly content: unknown;
}
interface History {
  getMessages(): Promise<Message[]>;
  addMessages(messages: Message[]): Promise<void>;
}
interface Messages {
  HumanMessage: new (content: string) => Message;
  AIMessage: new (content: string) => Message;
}

const GUEST = "guest-0";
const SESSION = "session";
const PACKAGE = "@langchain/community";
const MODULE = import.meta.resolve(`${PACKAGE}/stores/message/file_system`);
let copies = 0;

/** LangChain's chat history in one JSON file, which is kept in memory as well, and written anew with every message. */
export const contestant: Contestant = {
  window: async (setting) => {
    const { history } = await open(setting);
    return {
      keeps: "in memory",
      note: "it reads its file once, and then answers out of the process's memory; what another process writes it doesn't see",
      operation: async () => expectFound((await history.getMessages()).slice(-WINDOW_MESSAGES), WINDOW_MESSAGES),
      close: async () => undefined,
    };
  },
  append: async (setting) => {
    const { history, messageFrom } = await open(setting);
    return {
      keeps: "written",
      note: "the whole file is written anew for each message",
      operation: (n) => history.addMessages(roundOf(n).map(messageFrom)),
      close: async () => undefined,
    };
  },
  turn: turns,
};

async function open({ dir, sizes }: Setting) {
  // A copy of its own: what it keeps in memory, it keeps for all files of a process.
  const { FileSystemChatMessageHistory } = (await load(`${MODULE}?${copies++}`)) as {
    FileSystemChatMessageHistory: new (options: object) => History;
  };
  const { HumanMessage, AIMessage } = (await load("@langchain/core/messages")) as Messages;
  const messageFrom = ({ role, content }: Said) => (role === "user" ? new HumanMessage(content) : new AIMessage(content));
  const filePath = join(dir, "history.json");
  const messages = roundsOf(sizes.rounds).map(({ role, content }) => ({ type: role === "user" ? "human" : "ai", data: { content } }));
  await writeFile(filePath, JSON.stringify({ [GUEST]: { [SESSION]: { messages } } }));
  const history = new FileSystemChatMessageHistory({ sessionId: SESSION, userId: GUEST, filePath });
  return { history, messageFrom };
}

async function turns(setting: Setting): Promise<Prepared> {
  const { history, messageFrom } = await open(setting);
  const model = new OpenAI({ apiKey: "none", baseURL: setting.modelUrl });
  return {
    keeps: "written",
    operation: async (n) => {
      const window = (await history.getMessages()).slice(-WINDOW_MESSAGES).map(plain);
      const question: Said = { role: "user", content: messageOf(n) };
      const answer = await model.chat.completions.create({
        model: "stub",
        messages: [{ role: "system", content: INSTRUCTIONS }, ...window, question],
      });
      const said: Said = { role: "assistant", content: answer.choices[0]?.message.content ?? "" };
      await history.addMessages([question, said].map(messageFrom));
    },
    close: async () => undefined,
  };
}

function plain({ type, content }: Message): Said {
  return { role: type === "human" ? "user" : "assistant", content: String(content) };
}
