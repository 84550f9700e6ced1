interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (event: Event) => void;
  /** In a line with other things. */
  readonly inline?: boolean;
}

/** One of a few, with its label. */
export function Choice({ label, name, value = "", options, onChange, inline = false }: ChoiceProps) {
  return (
    <label class={inline ? "row" : ""}>
      {label}{" "}
      <select name={name} onChange={onChange}>
        {options.map(([option, shown]) => (
          <option key={option} value={option} selected={option === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

/** An option that is called what it is. */
export const itself = (name: string) => [name, name] as const;
