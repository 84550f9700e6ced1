/** A text as it may be shown, and how long it is: null where it isn't known. */
export interface ShownText {
  readonly text: string | null;
  readonly chars: number | null;
}

/** Whether texts are shown at all: the one place that decides it. */
export type ShowText = (text: string | null | undefined) => ShownText;

export function showsText(content: boolean): ShowText {
  return (text = null) => ({ text: content ? text : null, chars: text === null ? null : text.length });
}
