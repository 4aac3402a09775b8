// SPDX 2.3 list of what is in the image: Debian's packages, and the npm packages that the bundles are made of.
// usage: node sbom.mjs package-lock.json
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const lock = JSON.parse(readFileSync(process.argv[2], "utf8"));
const format = "$" + "{Package}\t$" + "{Version}\t$" + "{Architecture}\n";
const debian = execFileSync("dpkg-query", ["-W", `-f=${format}`], { encoding: "utf8" })
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"))
  .map(([name, version, architecture]) => ({ name, version, locator: `pkg:deb/debian/${name}@${version}?arch=${architecture}` }));
const npm = Object.entries(lock.packages)
  .filter(([path, entry]) => path !== "" && entry.dev !== true && entry.devOptional !== true)
  .map(([path, { version }]) => ({ name: path.slice(path.lastIndexOf("node_modules/") + 13), version }))
  .map(({ name, version }) => ({ name, version, locator: `pkg:npm/${name.replace("@", "%40")}@${version}` }));
const packages = [...debian, ...npm].sort((a, b) => (a.locator < b.locator ? -1 : 1));
const hash = createHash("sha256").update(JSON.stringify(packages)).digest("hex");
const id = (index) => `SPDXRef-Package-${index}`;

console.log(
  JSON.stringify({
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `sluice-${lock.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/sluice-${hash}`,
    // No clock: the same packages give the same file.
    creationInfo: { created: "1970-01-01T00:00:00Z", creators: ["Tool: sluice-sbom"] },
    packages: packages.map(({ name, version, locator }, index) => ({
      SPDXID: id(index),
      name,
      versionInfo: version,
      downloadLocation: "NOASSERTION",
      filesAnalyzed: false,
      externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: locator }],
    })),
    relationships: packages.map((_package, index) => ({
      spdxElementId: "SPDXRef-DOCUMENT",
      relationshipType: "DESCRIBES",
      relatedSpdxElement: id(index),
    })),
  }),
);
