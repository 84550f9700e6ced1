import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { api } from "./api.js";
import type { Receipt } from "./api-types.js";
import { keptList } from "./browser-store.js";
import { Button, saveFile } from "./controls.js";
import { when } from "./format.js";
import { guestName, known, memoryIsOn, tell } from "./state.js";
import { ask, toast, trying } from "./ui.js";

/** The guest's own data: take it along, bring it back, forget all memories, erase everything. */

/** Of erasures. The server no longer knows whose they are, so this browser keeps them; they hold counts and no text. */
const kept = keptList<{ readonly whose: string; readonly receipt: Receipt }>("maitred.receipts", 5);
const receipts = signal(kept.all());

async function bringIn(file: File): Promise<void> {
  toast(`Reading ${file.name} …`);
  const { sessions, messages, skipped_duplicates: duplicates } = await api.importFile(file);
  toast(`Brought in: ${sessions} conversations, ${messages} messages${duplicates ? `; ${duplicates} were here already` : ""}.`);
  tell("sessions", {});
  tell("memories", {});
}

async function forgetAll(): Promise<void> {
  const sure = await ask({
    title: `Forget ${known.value === null ? "everything" : `all ${known.value} things`} I know about ${guestName()}?`,
    text: "Your conversations stay. What is forgotten can't be brought back.",
    confirm: "Forget all",
    danger: true,
  });
  if (sure === null) return;
  toast(`Forgotten: ${await api.forgetAll()} things.`);
  tell("memories", {});
}

/** Gives whether it was done. */
async function erase(): Promise<boolean> {
  const whose = guestName();
  const sure = await ask({
    title: `Erase everything about ${whose}?`,
    text:
      `All conversations and memories of ${whose} go from every store, and the name goes from the bookings. ` +
      "It can't be undone. You get a receipt of what was erased.",
    confirm: "Erase everything",
    danger: true,
  });
  if (sure === null) return false;
  const receipt = await api.erase();
  kept.put({ whose, receipt });
  receipts.value = kept.all();
  tell("new", {});
  tell("sessions", {});
  tell("memories", {});
  if (receipt.verified) toast("Erased, and looked that nothing is left.");
  else toast("Erased, but something is still left: see the receipt.", { error: true });
  return true;
}

export function YourData() {
  const file = useRef<HTMLInputElement>(null);
  const open = useSignal(false);
  return (
    <details id="your-data" class="part" open={open} onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>Your data</summary>
      <p class="small">All that is kept of you here: to take along, to bring back, or to be rid of.</p>
      <div class="stack">
        <Button
          label="Download everything"
          onClick={() => void trying(async () => saveFile(await api.exportAll(), "maitred-export.json"))}
        />
        <Button label="Bring data in from a file" onClick={() => file.current?.click()} />
        <input
          ref={file}
          id="import-file"
          type="file"
          accept=".json,.ndjson,.jsonl,application/json"
          hidden
          onChange={({ currentTarget }) => {
            const [given] = currentTarget.files ?? [];
            if (given) void trying(() => bringIn(given)).finally(() => (currentTarget.value = ""));
          }}
        />
        {memoryIsOn() && <Button label="Forget all memories" class="quiet dangerous" onClick={() => void trying(forgetAll)} />}
        <Button
          label="Erase everything about me"
          class="quiet dangerous"
          onClick={() =>
            void trying(async () => {
              if (await erase()) open.value = true;
            })
          }
        />
      </div>
      {receipts.value.length > 0 && (
        <div>
          <h3>Receipts</h3>
          <ul class="plain">
            {receipts.value.map(({ whose, receipt }) => (
              <li key={receipt.receipt_id} class="row between">
                <span class="small">{`Erased for ${whose}, ${when(receipt.completed_at)}`}</span>
                <Button
                  label="Download"
                  aria-label={`Download the receipt for ${whose}`}
                  onClick={() =>
                    saveFile(
                      new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }),
                      `maitred-receipt-${receipt.receipt_id}.json`,
                    )
                  }
                />
              </li>
            ))}
          </ul>
        </div>
      )}
    </details>
  );
}
