// Repeated parts of a report: each is written once, and named as {"$": place} where it stands.

/** A report's document with its repeated parts back in place. */
export function whole(document: unknown): unknown {
  if (typeof document !== "object" || document === null || !("parts" in document) || !("details" in document)) return document;
  const { parts, ...rest } = document as { parts: unknown[]; details: unknown };
  const made: unknown[] = [];
  for (const part of parts) made.push(inPlace(part, made)); // a part names only those before it
  return { ...rest, details: inPlace(rest.details, made) };
}

function inPlace(content: unknown, parts: unknown[]): unknown {
  if (Array.isArray(content)) return content.map((value) => inPlace(value, parts));
  if (typeof content !== "object" || content === null) return content;
  const entries = Object.entries(content);
  if (entries.length === 1 && entries[0][0] === "$") return parts[entries[0][1] as number];
  return Object.fromEntries(entries.map(([key, value]) => [key, inPlace(value, parts)]));
}
