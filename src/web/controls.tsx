import type { ComponentChildren, ComponentProps } from "preact";

/** What the guests' page and Studio have in common. */

export type ButtonProps = ComponentProps<"button"> & Readonly<{ label: ComponentChildren }>;

export const Button = ({ label, ...props }: ButtonProps) => (
  <button type="button" class="quiet" {...props}>
    {label}
  </button>
);

export const Submit = (props: ButtonProps) => <Button class="primary" {...props} type="submit" />;

/** For a form that the page handles. */
export function sending(send: (form: HTMLFormElement) => unknown) {
  return (event: Event) => {
    event.preventDefault();
    send(event.currentTarget as HTMLFormElement);
  };
}

/** Gives the reader a file. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
