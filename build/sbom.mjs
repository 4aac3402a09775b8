// SPDX list of what is in the image: Debian packages as dpkg knows them, npm packages bundled into the controller.
// usage, inside the image: node build/sbom.mjs VERSION > sbom.spdx.json
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const lock = new URL("../package-lock.json", import.meta.url);

/** @returns {{ id: string, name: string, version: string, purl: string }[]} */
function debianPackages() {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
  const format = "${Package}\t${Version}\t${Architecture}\n";
  const lines = execFileSync("dpkg-query", ["-W", `-f=${format}`], { encoding: "utf8" })
    .trim()
    .split("\n");
  return lines.map((line) => {
    const [name = "", version = "", arch = ""] = line.split("\t");
    return {
      id: `SPDXRef-deb-${idOf(name)}-${arch}`,
      name,
      version,
      purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`,
    };
  });
}

/** @returns {{ id: string, name: string, version: string, purl: string }[]} */
function npmPackages() {
  const rows = Object.entries(JSON.parse(readFileSync(lock, "utf8")).packages);
  return rows
    .filter(([path, row]) => path !== "" && row.dev !== true && row.devOptional !== true && row.optional !== true)
    .map(([path, { version }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return { id: `SPDXRef-npm-${idOf(`${name}-${version}`)}`, name, version, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` };
    })
    .filter((row, i, all) => all.findIndex((other) => other.id === row.id) === i);
}

/** @param {string} name */
function idOf(name) {
  return name.replaceAll(/[^A-Za-z0-9.-]/g, "-");
}

/** @param {string} version of Sluice */
function document(version) {
  const packages = [...debianPackages(), ...npmPackages()];
  const digest = createHash("sha256")
    .update(JSON.stringify([version, packages]))
    .digest("hex");
  const epoch = process.env.SOURCE_DATE_EPOCH ?? "";
  const created = new Date(epoch === "" ? Date.now() : Number(epoch) * 1000).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `sluice-${version}`,
    documentNamespace: `https://sluice.invalid/spdx/${digest}`,
    creationInfo: { created, creators: ["Tool: sluice-build-sbom"] },
    packages: packages.map(({ id, name, version: installed, purl }) => ({
      SPDXID: id,
      name,
      versionInfo: installed,
      downloadLocation: "NOASSERTION",
      filesAnalyzed: false,
      externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
    })),
    relationships: packages.map(({ id }) => ({
      spdxElementId: "SPDXRef-DOCUMENT",
      relationshipType: "DESCRIBES",
      relatedSpdxElement: id,
    })),
  };
}

process.stdout.write(`${JSON.stringify(document(process.argv[2] ?? "0"), null, 1)}\n`);
