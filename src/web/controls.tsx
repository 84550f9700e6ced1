import type { ComponentChildren, ComponentProps } from "preact";

/** What the guests' page and Studio have in common. */

export type ButtonProps = ComponentProps<"button"> & Readonly<{ label: ComponentChildren }>;

export const Button = ({ label, ...props }: ButtonProps) => (
  <button type="button" class="quiet" {...props}>
    {label}
  </button>
);

export const Submit = (props: ButtonProps) => <Button class="primary" {...props} type="submit" />;

type FactsProps = Readonly<{ of: readonly (readonly [name: string, value: ComponentChildren])[] }>;

/** Names and values. */
export const Facts = ({ of }: FactsProps) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>
          <bdi>{name}</bdi>
        </dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

type FailureProps = Readonly<{ title: string; hint: string; again: (() => void) | null }>;

/** What went wrong, and the way to try again. */
export const Failure = ({ title, hint, again }: FailureProps) => (
  <div class="problem" role="alert">
    <strong dir="auto">{title}</strong>
    {hint && <p dir="auto">{hint}</p>}
    {again && (
      <div class="row">
        <Button label="Try again" class="secondary" onClick={again} />
      </div>
    )}
  </div>
);

/** For a form that the page handles. */
export function sending(send: (form: HTMLFormElement) => unknown) {
  return (event: Event) => {
    event.preventDefault();
    send(event.currentTarget as HTMLFormElement);
  };
}

export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
