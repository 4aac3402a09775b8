import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DataPlane, generalDocument } from "../kit/data-plane.ts";

let plane: DataPlane;
let responder: http.Server;
let asked = 0;
let answering = true;

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: plane.dir, stdio: "pipe" });
}

/** The stapled answer, if any. */
function stapled(servername: string): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    // the types leave out requestOCSP
    const options = { host: "127.0.0.1", port: plane.ports.https, servername, rejectUnauthorized: false, requestOCSP: true };
    const socket = tls.connect(options as tls.ConnectionOptions);
    socket.on("OCSPResponse", (answer: Buffer | null) => {
      resolve(answer ?? undefined);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

async function untilStapled(servername: string): Promise<Buffer> {
  for (;;) {
    const answer = await stapled(servername);
    if (answer !== undefined) return answer;
  }
}

/** A leaf of the authority, with the responder's address in it. */
function leaf(name: string): string {
  const { port } = responder.address() as AddressInfo;
  writeFileSync(join(plane.dir, `${name}.ext`), `authorityInfoAccess=OCSP;URI:http://127.0.0.1:${port}/ocsp\nsubjectAltName=DNS:${name}\n`);
  openssl(
    "req",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.csr`,
    "-subj",
    `/CN=${name}`,
  );
  openssl("ca", "-batch", "-config", "ca.cnf", "-in", `${name}.csr`, "-out", `${name}.crt`, "-extfile", `${name}.ext`, "-notext");
  return ["crt", "ca", "key"].map((part) => readFileSync(join(plane.dir, part === "ca" ? "ca.crt" : `${name}.${part}`), "utf8")).join("\n");
}

beforeAll(async () => {
  plane = await DataPlane.start();
  responder = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      asked += 1;
      if (!answering) {
        response.writeHead(500).end();
        return;
      }
      writeFileSync(join(plane.dir, "ask.der"), Buffer.concat(parts));
      openssl(
        "ocsp",
        "-index",
        "index.txt",
        "-rsigner",
        "ca.crt",
        "-rkey",
        "ca.key",
        "-CA",
        "ca.crt",
        "-reqin",
        "ask.der",
        "-respout",
        "answer.der",
        "-ndays",
        "1",
      );
      response.writeHead(200, { "content-type": "application/ocsp-response" }).end(readFileSync(join(plane.dir, "answer.der")));
    });
  });
  await new Promise<void>((done) => responder.listen(0, "127.0.0.1", done));
  writeFileSync(join(plane.dir, "index.txt"), "");
  writeFileSync(join(plane.dir, "serial"), "1000\n");
  writeFileSync(
    join(plane.dir, "ca.cnf"),
    "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ncertificate=ca.crt\nprivate_key=ca.key\ndefault_md=sha256\ndefault_days=30\npolicy=p\n[p]\ncommonName=supplied\n",
  );
  openssl(
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
    "-subj",
    "/CN=ca",
    "-days",
    "30",
  );
});

afterAll(async () => {
  await plane?.stop();
  responder?.close();
});

test("an answer is stapled once it has been fetched, and fetched once", async () => {
  await plane.apply({
    certificates: { upsert: { good: leaf("good.test") } },
    servers: { upsert: { "good.test": "good" } },
    general: { ...generalDocument, ocsp: true },
  });
  expect(await stapled("good.test")).toBeUndefined();
  writeFileSync(join(plane.dir, "stapled.der"), await untilStapled("good.test"));
  openssl("ocsp", "-respin", "stapled.der", "-CAfile", "ca.crt", "-issuer", "ca.crt", "-cert", "good.test.crt");
  await stapled("good.test");
  expect(asked).toBe(1);
});

test("a responder that fails delays and breaks nothing, and is left alone for a while", async () => {
  asked = 0;
  answering = false;
  await plane.apply({ certificates: { upsert: { bad: leaf("bad.test") } }, servers: { upsert: { "bad.test": "bad" } } });
  expect(await stapled("bad.test")).toBeUndefined();
  await plane.errorLine("no OCSP answer");
  expect(await stapled("bad.test")).toBeUndefined();
  expect(asked).toBe(1);
});

test("switched off, nothing is stapled", async () => {
  await plane.apply({ general: generalDocument });
  expect(await stapled("good.test")).toBeUndefined();
});
