/** Kubernetes label selectors in their text form: "a=b,c!=d,e in (x, y),f notin (z),g,!h". */

export interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent";
  readonly values: readonly string[];
}

export type Selector = readonly Requirement[];

const name = "[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?";
const setForm = new RegExp(`^(${name})\\s+(in|notin)\\s+\\(([^()]*)\\)$`);
const equalForm = new RegExp(`^(${name})\\s*(==|=|!=)\\s*([A-Za-z0-9._-]*)$`);
const keyForm = new RegExp(`^(!?)\\s*(${name})$`);

/** The requirements, or a reason why the text is none. Empty text selects everything. */
export function parseSelector(text: string): Selector | { readonly error: string } {
  const out: Requirement[] = [];
  for (const part of text.split(/,(?![^(]*\))/)) {
    const t = part.trim();
    if (t === "") continue;
    const requirement = parseRequirement(t);
    if (requirement === undefined) return { error: `"${t}" is not a label requirement` };
    out.push(requirement);
  }
  return out;
}

function parseRequirement(t: string): Requirement | undefined {
  const set = setForm.exec(t);
  if (set !== null) {
    const values = (set[3] ?? "").split(",").map((v) => v.trim());
    return { key: set[1] ?? "", operator: set[2] === "in" ? "in" : "notin", values };
  }
  const equal = equalForm.exec(t);
  if (equal !== null) return { key: equal[1] ?? "", operator: equal[2] === "!=" ? "notin" : "in", values: [equal[3] ?? ""] };
  const key = keyForm.exec(t);
  return key === null ? undefined : { key: key[2] ?? "", operator: key[1] === "!" ? "absent" : "exists", values: [] };
}

export function matchesSelector(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  return selector.every((r) => {
    const value = labels[r.key];
    if (r.operator === "exists") return value !== undefined;
    if (r.operator === "absent") return value === undefined;
    if (r.operator === "in") return value !== undefined && r.values.includes(value);
    return value === undefined || !r.values.includes(value);
  });
}
