import { state, tell } from "./bus.js";
import { ask, button, byId, el, toast, when } from "./dom.js";
import { dataApi, memoryApi } from "./memory-api.js";
import { keepReceipt, receiptsView } from "./receipts.js";
import { save } from "./save.js";

/** The guest's own data: take it along, bring it back, forget all memories, erase everything. */

const whose = () => state.me?.user.display_name ?? state.me?.user.id ?? "you";

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    toast(error.hint ? `${error.message} ${error.hint}` : error.message, { error: true });
  }
}

async function bringIn(file) {
  toast(`Reading ${file.name} …`);
  const { sessions, messages, skipped_duplicates: known } = await dataApi.import(file);
  toast(`Brought in: ${sessions} conversations, ${messages} messages${known ? `; ${known} were here already` : ""}.`);
  tell("sessions");
  tell("memories");
}

async function forgetAll() {
  const count = state.known === null ? "everything" : `all ${state.known} things`;
  const sure = await ask({
    title: `Forget ${count} I know about ${whose()}?`,
    text: "Your conversations stay. What is forgotten can't be brought back.",
    confirm: "Forget all",
    danger: true,
  });
  if (!sure) return;
  toast(`Forgotten: ${await memoryApi.forgetAll()} things.`);
  tell("memories");
}

async function erase() {
  const sure = await ask({
    title: `Erase everything about ${whose()}?`,
    text:
      `All conversations and memories of ${whose()} go from every store, and the name goes from the bookings. ` +
      "It can't be undone. You get a receipt of what was erased.",
    confirm: "Erase everything",
    danger: true,
  });
  if (!sure) return;
  const receipt = await dataApi.erase();
  keepReceipt(receipt, whose());
  tell("new", { incognito: false });
  tell("sessions");
  tell("memories");
  toast(receipt.verified ? "Erased, and looked that nothing is left." : "Erased, but something is still left: see the receipt.", {
    error: !receipt.verified,
  });
  byId("your-data").open = true;
  renderReceipts();
}

const receipts = el("div", {});
function renderReceipts() {
  receipts.replaceChildren(...receiptsView({ save, when }));
}

export function dataView() {
  const file = el("input", { type: "file", accept: ".json,.ndjson,.jsonl,application/json", hidden: true, id: "import-file" });
  file.addEventListener("change", () => {
    const [given] = file.files;
    file.value = "";
    if (given) void attempt(() => bringIn(given));
  });
  renderReceipts();
  return el(
    "details",
    { id: "your-data", class: "part" },
    el("summary", {}, "Your data"),
    el("p", { class: "small" }, "All that is kept of you here: to take along, to bring back, or to be rid of."),
    el(
      "div",
      { class: "stack" },
      button("Download everything", () => void attempt(async () => save(await dataApi.export(), "maitred-export.json"))),
      button("Bring data in from a file", () => file.click()),
      file,
      button("Forget all memories", () => void attempt(forgetAll), { class: "quiet dangerous memory-only" }),
      button("Erase everything about me", () => void attempt(erase), { class: "quiet dangerous" }),
    ),
    receipts,
  );
}
