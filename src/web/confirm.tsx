import { type Signal, useSignal } from "@preact/signals";
import { api } from "./api.js";
import type { Waiting } from "./api-types.js";
import { Button } from "./controls.js";
import { companionOf } from "./format.js";
import { problemOf } from "./problems.js";
import { tell, waiting } from "./state.js";
import { ifLost, Said, toast, toastProblem, useFocus } from "./ui.js";

function questionOf(asked: Waiting): string {
  const { id, text, change, reason, instead = waiting.value.get(id)?.instead } = asked;
  const companion = companionOf(asked);
  const who = companion ? ` (${companion})` : "";
  if (reason === "off_record") return `You asked not to keep “${text}”${who}. Keep it all the same, so that bookings mind it?`;
  return change ? `${text}${who}${instead ? ` (now: ${instead})` : ""}?` : `Shall I keep “${text}”${who}?`;
}

interface ConfirmProps {
  readonly of: Waiting;
  /** What became of it, once the server has the answer. Default: it is known here alone. */
  readonly told?: Signal<string | null>;
  /** It was answered meanwhile, in talk or on another page. */
  readonly onGone?: () => void;
}

/** What waits for the guest's word: a short question with Yes and No, wherever it is shown. */
export function Confirm({ of, told: kept, onGone }: ConfirmProps) {
  const own = useSignal<string | null>(null);
  const told = kept ?? own;
  const asking = useSignal(false);
  const question = questionOf(of);
  const settle = async (work: (id: string) => Promise<unknown>, said: string) => {
    asking.value = true;
    try {
      await work(of.id);
      told.value = said;
      tell("memories", {});
    } catch (error) {
      const { status } = problemOf(error);
      asking.value = false;
      if (status === 404 || status === 400) onGone?.();
      if (status !== 400) return toastProblem(error);
      toast("That was answered already.");
      tell("memories", {});
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has looks of its own
    <div
      class={`confirm row${of.strength === "hard" ? " hard" : ""}${told.value === null ? "" : " settled"}`}
      role="group"
      aria-label={question}
      data-memory={of.id}
    >
      {told.value !== null ? (
        <Settled words={told.value} />
      ) : (
        <>
          <Said class="question" of={question} />
          {of.quote && <Said class="small said" of={`You said: “${of.quote}”`} />}
          <span class="row">
            <Button
              label="Yes"
              class="secondary"
              aria-label={`Yes. ${question}`}
              disabled={asking.value}
              onClick={() => void settle(api.approve, of.change ? "Changed." : `Kept: ${of.text}`)}
            />
            <Button
              label="No"
              aria-label={`No. ${question}`}
              disabled={asking.value}
              onClick={() => void settle(api.reject, of.change ? "Left as it was." : "Not kept.")}
            />
          </span>
        </>
      )}
    </div>
  );
}

const Settled = ({ words }: { readonly words: string }) => (
  <span ref={useFocus<HTMLSpanElement>(true, ifLost)} role="status" tabIndex={-1}>
    {words}
  </span>
);
