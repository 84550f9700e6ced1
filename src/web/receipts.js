import { button, el } from "./dom.js";
import { keptList } from "./kept-list.js";

/** Receipts of erasures. The server no longer knows whose they are, so this browser keeps them; they hold counts and no text. */

const receipts = keptList("maitred.receipts", 5);

export const keepReceipt = (receipt, whose) => receipts.put({ whose, receipt });

export function receiptsView({ save, when }) {
  const kept = receipts.all();
  if (kept.length === 0) return [];
  return [
    el("h3", {}, "Receipts"),
    el(
      "ul",
      { class: "plain" },
      kept.map(({ whose, receipt }) => {
        const name = `maitred-receipt-${receipt.receipt_id}.json`;
        const text = JSON.stringify(receipt, null, 2);
        return el(
          "li",
          { class: "row between" },
          el("span", { class: "small" }, `Erased for ${whose}, ${when(receipt.completed_at)}`),
          button("Download", () => save(new Blob([text], { type: "application/json" }), name), {
            "aria-label": `Download the receipt for ${whose}`,
          }),
        );
      }),
    ),
  ];
}
