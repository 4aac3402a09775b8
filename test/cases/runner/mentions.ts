// Which cases set an annotation or a ConfigMap key.
import type { AnyRow, Feature } from "../../../control/catalog/feature";
import { ownPrefix } from "../../../control/catalog/resolve";
import { type Setting, settingRows } from "../../../control/catalog/settings";
import { features } from "../../../control/features/index";
import type { Case } from "./case";

/** A row of the catalogue, as far as tests of tests need it. */
export interface CatalogueRow {
  readonly table: "annotation" | "setting";
  readonly name: string;
  readonly row: AnyRow | Setting<unknown>;
  /** The row's name and its older ones. */
  readonly names: readonly string[];
}

/** All rows of both tables that have their whole effect. */
export function fullRows(): readonly CatalogueRow[] {
  const annotations = (features as unknown as readonly Feature[]).flatMap((feature) =>
    Object.entries(feature.rows).map(
      ([name, row]): CatalogueRow => ({ table: "annotation", name, row, names: [name, ...(row.aliases ?? [])] }),
    ),
  );
  const settings = Object.entries(settingRows).map(([name, row]): CatalogueRow => ({ table: "setting", name, row, names: [name] }));
  return [...annotations, ...settings].filter(({ row }) => row.support === "full");
}

function escaped(name: string): string {
  return name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** True when the case sets the annotation on an Ingress, or the key in the controller's ConfigMap, at some step. */
export function sets(one: Case, { table, names }: CatalogueRow): boolean {
  const text = JSON.stringify(one);
  return names.some((name) => {
    const start = table === "setting" || name.startsWith(`${ownPrefix}/`) ? '"' : "[/]";
    return new RegExp(`${start}${escaped(name)}":`).test(text);
  });
}

/** The project's own, beyond those that were handed over. */
export function isOwn({ id }: Case): boolean {
  return id.startsWith("own-") || id.startsWith("recipes/");
}
