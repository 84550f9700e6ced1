import { type Signal, signal, useComputed } from "@preact/signals";
import { type ComponentChildren, type ComponentProps, createContext, Fragment, render } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import { Button, type ButtonProps, Facts, Submit, sending } from "./controls.js";
import { problemOf, serverWords, wordsFor } from "./problems.js";
import { useAnswer } from "./use-answer.js";

/** What all parts of the page are made of. A text is always text: nothing here makes markup of it. */

/** An element of the page's frame, which is there before its scripts are. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const node = document.getElementById(id);
  if (node === null) throw new TypeError(`The page has no #${id}.`);
  return node as E;
}

/** Shows something in a part of the frame, in place of what stood there. */
export function show(id: string, content: ComponentChildren): void {
  byId(id).replaceChildren();
  render(content, byId(id));
}

/** Opens what is folded, and folds it again. */
export const Toggle = ({ of, ...props }: Omit<ButtonProps, "onClick"> & { readonly of: Signal<boolean> }) => (
  <Button {...props} aria-expanded={of.value} onClick={() => (of.value = !of.value)} />
);

/**
 * What `find` finds in an element has the focus, whenever `when` has become something else than nothing. Gives what refers to the element.
 */
export function useFocus<E extends HTMLElement>(when: unknown, find: (within: E) => Element | null | undefined = (node) => node) {
  const ref = useRef<E>(null);
  useLayoutEffect(() => {
    const node = when && ref.current ? find(ref.current) : null;
    if (!(node instanceof HTMLElement)) return;
    if (node.tabIndex < 0) node.tabIndex = -1;
    node.focus({ preventScroll: node === ref.current });
  }, [when]);
  return ref;
}

/** Where what had the focus is gone: whoever went on to something else meanwhile stays there. */
export const ifLost = <E extends HTMLElement>(node: E) => (document.activeElement === document.body ? node : null);

type AnsweredProps<T> = Readonly<{ keys?: readonly unknown[]; ask: () => Promise<T>; children: (value: T) => ComponentChildren }>;

/** What is asked for once it is shown, and again when one of `keys` changes; or why it isn't there. */
export function Answered<T>({ keys = [], ask, children }: AnsweredProps<T>): ComponentChildren {
  const { value, failure } = useAnswer(keys, ask);
  if (failure !== null) return <p class="small warn">{serverWords(failure)}</p>;
  return value === null ? null : children(value);
}

type SaidProps = Readonly<{ of: ComponentChildren; as?: "p" | "span" | "b" | "div" | "summary"; class?: string; title?: string }>;

/** Somebody's words, in whichever direction they are read. */
export const Said = ({ of, as: Tag = "span", ...props }: SaidProps) => (
  <Tag dir="auto" {...props}>
    {of}
  </Tag>
);

/** Says something for the guest, in the conversation that a component stands in; `more`: further fields of the request. */
export interface Talk {
  say(words: string, more?: object): void;
  readonly busy: { readonly value: boolean };
}
export const TalkContext = createContext<Talk>({ say: () => {}, busy: { value: false } });

type SayButtonProps = Omit<ButtonProps, "onClick"> & Readonly<{ words: string; more?: object }>;

/** Its press is the guest's word. While an answer is under way it can be reached, waits, and tells why. */
export function SayButton({ words, more, ...props }: SayButtonProps) {
  const talk = useContext(TalkContext);
  const busy = useComputed(() => talk.busy.value).value;
  return (
    <Button {...props} {...(busy && { "aria-disabled": true, title: "I am still answering" })} onClick={() => talk.say(words, more)} />
  );
}

/** Texts of any direction beside each other: none turns round the numbers of another. */
export function Isolated({ of }: { readonly of: readonly unknown[] }) {
  return of.filter(Boolean).map((text, index) => (
    <Fragment key={index}>
      {index > 0 && " · "}
      <bdi>{String(text)}</bdi>
    </Fragment>
  ));
}

type KnownFactsProps = Readonly<{ of: readonly (readonly [name: string, value: unknown])[] }>;

/** Names and values, without those that have none. */
export function KnownFacts({ of }: KnownFactsProps) {
  const shown = of.map(([name, value]) => [name, [value].flat().filter(Boolean)] as const).filter(([, values]) => values.length > 0);
  return <Facts of={shown.map(([name, values]) => [name, <Isolated key={name} of={values} />] as const)} />;
}

interface InPlaceFormProps extends ComponentProps<"form"> {
  readonly onSent: (form: HTMLFormElement) => void;
  /** Escape or Cancel was pressed: nothing is changed. */
  readonly onLeft: () => void;
  /** What its button says, beside Cancel. Default: it brings its own. */
  readonly send?: string;
  /** It is being sent. */
  readonly busy?: boolean;
}

/** A form in the place of what it changes: Enter sends it, Escape leaves it; its first field has the focus. */
export function InPlaceForm({ onSent, onLeft, send, busy = false, children, ...props }: InPlaceFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    const field = form.current?.querySelector<HTMLInputElement | HTMLTextAreaElement>("input, textarea");
    if (field instanceof HTMLInputElement) field.select();
    else field?.focus();
  }, []);
  return (
    <form ref={form} onSubmit={sending(onSent)} onKeyDown={(event) => leaving(event, onLeft)} {...props}>
      {children}
      {send && (
        <div class="row end">
          <Button label="Cancel" onClick={onLeft} />
          <Submit label={send} disabled={busy} />
        </div>
      )}
    </form>
  );
}

/** What is changed by a form in its place. Once it is left, the focus comes back to what opened it, whose `ref` this is. */
export function useInPlace(changing: Signal<boolean>) {
  const ref = useRef<HTMLButtonElement>(null);
  const left = useRef(false);
  useLayoutEffect(() => {
    if (left.current) ref.current?.focus();
    left.current = false;
  });
  const leave = () => {
    left.current = true;
    changing.value = false;
  };
  return { ref, leave };
}

function leaving(event: KeyboardEvent, onLeft: () => void): void {
  if (event.key === "Escape") {
    event.stopPropagation();
    onLeft();
  } else if (event.target instanceof HTMLTextAreaElement) sendOnEnter(event);
}

/** An input method uses Enter to choose a word; some browsers tell that only by the code 229. */
export function sendOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  (event.target as HTMLTextAreaElement).form?.requestSubmit();
}

/** Its part that was said to be the reason, marked; nothing is where it does not stand in it. */
export function Marked({ message, quote }: { readonly message: string; readonly quote?: string | undefined }) {
  const at = quote ? message.indexOf(quote) : -1;
  if (at < 0 || !quote) return <>{message}</>;
  return (
    <>
      {message.slice(0, at)}
      <mark>{quote}</mark>
      {message.slice(at + quote.length)}
    </>
  );
}

type Toast = Readonly<{ id: number; text: string; error: boolean; action?: { readonly label: string; run(): void } | undefined }>;
let told = 0;
const toasts = signal<readonly Toast[]>([]);
const dismiss = (one: Toast) => {
  toasts.value = toasts.value.filter((each) => each !== one);
};

/** A short notice, with something to do about it if wanted. Errors stay longer; the same words are there once. */
export function toast(text: string, { action, error = false }: Partial<Pick<Toast, "action" | "error">> = {}): void {
  const one = { id: ++told, text, error, action };
  toasts.value = [...toasts.value.filter((each) => action || each.text !== text), one];
  setTimeout(() => dismiss(one), error || action ? 10_000 : 5_000);
}

/** What went wrong, in a guest's words. That the server is gone is said elsewhere, once. */
export function toastProblem(error: unknown): void {
  if (problemOf(error).code === "OFFLINE") return;
  const { title, hint } = wordsFor(error);
  toast([title, hint].filter(Boolean).join(". "), { error: true });
}

export function Toasts() {
  return toasts.value.map((one) => (
    <div key={one.id} class={one.error ? "toast row error" : "toast row"}>
      <span>{one.text}</span>
      {one.action && (
        <Button
          label={one.action.label}
          onClick={() => {
            dismiss(one);
            one.action?.run();
          }}
        />
      )}
      <Button label="✕" class="icon" aria-label="Dismiss" onClick={() => dismiss(one)} />
    </div>
  ));
}

type DialogProps = Readonly<{ label: string; onClose: () => void; children: ComponentChildren }>;

function Dialog({ label, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label={label} onClose={onClose}>
      {children}
    </dialog>
  );
}

/** Does it; what went wrong is said as the server says it, to who typed. */
export const trying = (work: () => Promise<unknown>): Promise<unknown> =>
  work().catch((error: unknown) => toast(serverWords(error), { error: true }));

/** Shows a modal dialog, which is gone when it closes; whoever opened it has the focus again. */
export function openDialog(label: string, content: (close: () => void) => ComponentChildren): Promise<void> {
  const host = document.createElement("div");
  document.body.append(host);
  return new Promise((resolve) => {
    const onClose = () => {
      render(null, host);
      host.remove();
      resolve();
    };
    const close = () => host.querySelector("dialog")?.close();
    render(
      <Dialog label={label} onClose={onClose}>
        {content(close)}
      </Dialog>,
      host,
    );
  });
}

interface Question {
  readonly title: string;
  readonly text?: string;
  /** Names what is to be typed, which nobody else may read. */
  readonly secret?: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly extra?: ComponentChildren;
}

/** Asks in a modal dialog. Resolves to what was typed, empty where nothing was asked for; null where it was dismissed. */
export async function ask({ title, text, secret, confirm, danger = false, extra }: Question): Promise<string | null> {
  let said: string | null = null;
  await openDialog(title, (close) => {
    const send = (form: HTMLFormElement) => {
      said = String(new FormData(form).get("secret") ?? "").trim();
      close();
    };
    return (
      <form onSubmit={sending(send)}>
        <h2>{title}</h2>
        {text && <p>{text}</p>}
        {secret && (
          <label>
            {secret}
            <input name="secret" type="password" maxLength={8192} autofocus />
          </label>
        )}
        {extra}
        <div class="row end">
          <Button label="Cancel" onClick={close} />
          <Submit label={confirm} class={danger ? "danger" : "primary"} />
        </div>
      </form>
    );
  });
  return said;
}
