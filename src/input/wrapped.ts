const width = 80;

/** Text in lines of at most 80 characters, indented; words are never broken. */
export function wrapped(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(`${indent}${line}`);
  return lines;
}
