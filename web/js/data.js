// Reads the data of the page: see internal/report/html/container.go.

export async function readData(base64) {
  return unpack(await readBytes(base64));
}

export async function readBytes(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the report: any of 2023 or later can");
  }
  const packed = fromBase64(base64.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (head.schema !== "mallow.html/1") throw new Error(`data of another version: ${head.schema}`);
  const body = bytes.subarray(4 + length);
  const columns = {};
  for (const [name, column] of Object.entries(head.columns)) columns[name] = numbers(body, column);
  return { head, columns };
}

// LEB128. Beyond 28 bits the numbers are added up as floating point, which
// has room for 53.
function numbers(body, { at, n, form }) {
  const values = new Float64Array(n);
  let last = 0;
  for (let i = 0; i < n; i++) {
    let byte = body[at++];
    let value = byte & 127;
    if (byte > 127) {
      let scale = 128;
      do {
        byte = body[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
    }
    if (form > 0) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (form === 2) value = last += value;
    values[i] = value;
  }
  return values;
}
