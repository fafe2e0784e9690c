"use strict";
(() => {
  const root = document.documentElement;

  // Tables: a heading becomes a button; numbers sort by their value, text as people sort it, and what is missing stays last.
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const keyOf = (row, place) => {
    const cell = row.cells[place];
    if (!cell) return { kind: 2 };
    if (cell.dataset.value !== undefined) return { kind: 0, value: numberOf(cell.dataset.value) };
    const text = cell.textContent.trim();
    return text === "" || text === "–" ? { kind: 2 } : { kind: 1, value: text };
  };

  const numberOf = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text));

  const compare = (one, other) => {
    if (one.kind !== other.kind) return one.kind - other.kind;
    if (one.kind === 0) return one.value < other.value ? -1 : one.value > other.value ? 1 : 0;
    return one.kind === 1 ? collator.compare(one.value, other.value) : 0;
  };

  const sort = (heading) => {
    const table = heading.closest("table");
    const place = heading.cellIndex;
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, at) => ({ row, at, key: keyOf(row, place) }));
    rows.sort((one, other) => {
      const way = descending && one.key.kind === other.key.kind ? -1 : 1;
      return way * compare(one.key, other.key) || one.at - other.at;
    });
    body.append(...rows.map((one) => one.row));
  };

  for (const heading of document.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }

  // Tooltips: one for the page, shown where the pointer or the focus is, gone at Escape.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let shownFor = null;

  const hide = () => {
    if (shownFor) shownFor.removeAttribute("aria-describedby");
    shownFor = null;
    tip.hidden = true;
  };

  const place = () => {
    const at = shownFor.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = at.left + at.width / 2 - own.width / 2;
    const above = at.top - own.height - 8;
    tip.style.left = `${Math.max(8, Math.min(left, root.clientWidth - own.width - 8))}px`;
    tip.style.top = `${above >= 8 ? above : Math.min(at.bottom + 8, root.clientHeight - own.height - 8)}px`;
  };

  const show = (target) => {
    if (shownFor === target) return;
    hide();
    shownFor = target;
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    target.setAttribute("aria-describedby", "tip");
    place();
  };

  const tipped = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  document.addEventListener("pointerover", (event) => {
    const target = tipped(event);
    if (target) show(target);
    else if (shownFor && shownFor !== document.activeElement) hide();
  });
  document.addEventListener("focusin", (event) => (tipped(event) ? show(tipped(event)) : hide()));
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", () => shownFor && place(), true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

  // Light and dark.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
    dark.addEventListener("change", name);
    name();
  }

  // Programs can be copied; where the browser forbids it, they are selected instead.
  for (const button of document.querySelectorAll("[data-copy]")) {
    const program = button.parentElement.querySelector("pre");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(program.textContent);
        button.textContent = "Copied";
      } catch {
        window.getSelection().selectAllChildren(program);
        button.textContent = "Selected";
      }
      window.setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // Tables that are wider than their box say so.
  const measure = new ResizeObserver((entries) => {
    for (const { target } of entries) target.toggleAttribute("data-wider", target.scrollWidth > target.clientWidth + 1);
  });
  for (const box of document.querySelectorAll(".scroll")) measure.observe(box);

  // Contents: folded on a narrow screen, and a mark at the section that is being read.
  const contents = document.querySelector(".contents details");
  if (contents) {
    const wide = window.matchMedia("(min-width: 64rem)");
    const fold = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fold);
    contents.addEventListener("click", (event) => !wide.matches && event.target.closest("a") && fold());
    fold();
    const links = new Map(Array.from(contents.querySelectorAll("a"), (link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id).setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-20% 0px -75% 0px" });
    for (const id of links.keys()) seen.observe(document.getElementById(id));
  }

  // On paper every detail is open, and afterwards as it was.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("main details:not([open])"));
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
})();
