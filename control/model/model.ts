/** The intermediate representation between "what the user's objects say" and "what the data plane gets". Deeply readonly. */

import type { FeatureDocuments, HostDocument, RouteDocument, SourceDocument } from "../../lua-src/wire.ts";
import type { Backend } from "./backend.ts";
import type { Certificate, Private } from "./certificate.ts";
import type { Finding } from "./finding.ts";
import type { ObjectRef } from "./ids.ts";
import type { Passthrough, Stream } from "./stream.ts";

/** Text that nginx reads from a file of the private folder; `file` names it by its content's hash. */
export interface FileText {
  readonly file: string;
  readonly content: Private;
  /** Of the content; absent: the text itself. */
  readonly encoding?: "base64";
}

/**
 * An argument is printed as one quoted nginx token. A plain string may name nginx variables ("$remote_addr"); text that
 * users wrote goes in as `literal`, where "$" stays a dollar sign. Files have got their paths before anything is printed.
 */
export type Argument = string | number | { readonly literal: string } | FileText;

/** `name arg arg;` — the name must be a plain directive name ([a-z0-9_]). */
export interface Directive {
  readonly name: string;
  readonly args: readonly Argument[];
}

/** A CGI parameter; the value may name nginx variables. */
export interface FastcgiParam {
  readonly fastcgiParam: string;
  readonly value: string;
}

/** Text in nginx's own language, printed as it is; it stays within its block. */
export interface SnippetText {
  readonly snippet: string;
  /** The annotation that it comes from. */
  readonly from?: string;
}

/** Without that server block or stream text ("server KEY", "stream KEY") there is no location either. */
export interface Requirement {
  readonly requires: string;
}

/** What a route asks of its location, because nginx cannot vary it at run time. */
export type Fixed = Directive | FastcgiParam | SnippetText | Requirement;

/** What the location's traffic speaks to the endpoints. */
export type Protocol = "HTTP" | "HTTPS" | "GRPC" | "GRPCS" | "FCGI" | "AUTO_HTTP";

export interface Match {
  readonly kind: RouteDocument["kind"];
  readonly text: string;
}

export interface Route {
  readonly match: Match;
  /** Backend id, or an answer of the data plane's own. */
  readonly target:
    | { readonly kind: "backend"; readonly backend: string }
    | { readonly kind: "fixed"; readonly fixed: NonNullable<RouteDocument["fixed"]> };
  readonly protocol: Protocol;
  /** Directives that nginx cannot vary at run time; the route's profile is made of them. */
  readonly fixed: readonly Fixed[];
  readonly features: FeatureDocuments;
  readonly labels: SourceDocument;
  /** The Ingress; absent for what no object asked for (the bare default host). */
  readonly source: ObjectRef | undefined;
}

export interface Host {
  readonly name: string;
  readonly settings: Omit<HostDocument, "name" | "routes">;
  readonly routes: readonly Route[];
  /** Text of its server block. */
  readonly snippet?: string;
  /** Certificate id; undefined: no TLS section, the default certificate is shown. */
  readonly certificate: string | undefined;
  /** Whose certificates its clients show; id and PEM. */
  readonly authority?: { readonly id: string; readonly pem: string } | undefined;
}

/** A name with "*" or an expression that leads to a host. */
export interface HostPattern {
  readonly pattern: string;
  readonly host: string;
  /** As Host.certificate. */
  readonly certificate: string | undefined;
}

export interface Model {
  /** Sorted by name, then those that only lead to others. */
  readonly hosts: readonly Host[];
  /** In the order in which they are tried. */
  readonly patterns: readonly HostPattern[];
  readonly backends: ReadonlyMap<string, Backend>;
  readonly certificates: ReadonlyMap<string, Certificate>;
  readonly defaultCertificate: string;
  /** User tables that routes name: lines user:hash or user:realm:digest. */
  readonly users: ReadonlyMap<string, Private>;
  /** TCP first, then UDP; by port. */
  readonly streams: readonly Stream[];
  readonly passthroughs: readonly Passthrough[];
  /** Texts for the stream block, in order. */
  readonly streamSnippets: readonly string[];
  readonly findings: readonly Finding[];
}
