import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive with these parts, packed as spreadsheets pack theirs. `sizes` lies about how large a part is. */
export function zip(parts: Readonly<Record<string, string | Uint8Array>>, sizes: Readonly<Record<string, number>> = {}): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(sizes[name] ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const piece = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    local.push(piece);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, place, Buffer.from(name)]));
    offset += piece.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

export interface WorkbookFixture {
  /** Sheet names and the rows of each as XML; `shown` gives it as cells instead. */
  sheets: Readonly<Record<string, string>>;
  hidden?: readonly string[];
  strings?: readonly string[];
  /** Format codes; style 0 is General, style 1 the first of these. */
  formats?: readonly string[];
  from1904?: boolean;
  prefix?: string;
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** The parts of a workbook as Excel writes them. */
export function workbookParts(fixture: WorkbookFixture): Record<string, string> {
  const { sheets, hidden = [], strings = [], formats = [], from1904 = false, prefix = '' } = fixture;
  const names = Object.keys(sheets);
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/>`;
  const list = names.map((name, index) => {
    const state = hidden.includes(name) ? ' state="hidden"' : '';
    return `<sheet name="${escapeXml(name)}" sheetId="${String(index + 1)}"${state} r:id="rId${String(index + 1)}"/>`;
  });
  const parts: Record<string, string> = {
    '[Content_Types].xml': `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': `${declaration}<Relationships>${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `${declaration}<workbook xmlns="${main}" xmlns:r="${relationships}"><workbookPr${from1904 ? ' date1904="1"' : ''}/><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${declaration}<Relationships>${names
      .map((_, index) => relation(`rId${String(index + 1)}`, 'worksheet', `worksheets/sheet${String(index + 1)}.xml`))
      .join('')}${relation('rIdS', 'sharedStrings', 'sharedStrings.xml')}${relation('rIdT', 'styles', '/xl/styles.xml')}</Relationships>`,
    'xl/sharedStrings.xml': `${declaration}<sst xmlns="${main}">${strings.map((text) => `<si>${text.startsWith('<') ? text : `<t>${escapeXml(text)}</t>`}</si>`).join('')}</sst>`,
    'xl/styles.xml': `${declaration}<styleSheet xmlns="${main}"><numFmts>${formats
      .map((code, index) => `<numFmt numFmtId="${String(164 + index)}" formatCode="${escapeXml(code)}"/>`)
      .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
      .map((_, index) => `<xf numFmtId="${String(164 + index)}"/>`)
      .join('')}</cellXfs></styleSheet>`,
  };
  names.forEach((name, index) => {
    const tag = prefix === '' ? '' : `${prefix}:`;
    parts[`xl/worksheets/sheet${String(index + 1)}.xml`] =
      `${declaration}<${tag}worksheet xmlns${prefix === '' ? '' : `:${prefix}`}="${main}"><${tag}sheetData>${sheets[name] ?? ''}</${tag}sheetData></${tag}worksheet>`;
  });
  return parts;
}

export function workbook(fixture: WorkbookFixture): Buffer {
  return zip(workbookParts(fixture));
}

/** Rows of texts as XML, each text in its cell; null leaves the cell out. */
export function textRows(rows: readonly (readonly (string | null)[])[]): string {
  return rows
    .map((cells, index) => {
      const written = cells.map((text, column) =>
        text === null
          ? ''
          : `<c r="${letter(column)}${String(index + 1)}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`,
      );
      return `<row r="${String(index + 1)}">${written.join('')}</row>`;
    })
    .join('');
}

function letter(column: number): string {
  return String.fromCharCode(65 + column);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Text that does not pack well, so that only its length can be held against it. */
export function noise(length: number): string {
  let state = 1;
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return 97 + ((state >>> 24) % 26);
    }),
  ).toString('latin1');
}
