"use strict";
(() => {
  // What runs is asked for once a second, and its words, made by the server, are put where they belong.
  const panel = document.getElementById("running");
  if (!panel) return;
  const own = panel.dataset.study || null; // the study of this page; a list has none
  let last = JSON.parse(panel.dataset.studies || "[]"); // the studies that ran when asked last

  const parts = (name) => panel.querySelectorAll(`[data-live="${name}"]`);
  const put = (name, text) => {
    for (const one of parts(name)) if (one.textContent !== text) one.textContent = text;
  };

  const move = (running) => {
    panel.hidden = false;
    panel.dataset.moves = running.stopped === null ? "yes" : "no";
    const bar = panel.querySelector("progress");
    bar.value = running.percent;
    bar.setAttribute("aria-valuetext", `${running.percent}%, ${running.cells}`);
    put("percent", `${running.percent}%`);
    for (const name of ["learner", "cells", "stage", "seconds", "left", "failed", "failure"]) put(name, running[name]);
    put("news", running.stopped || "");
    link(null);
  };

  const link = (key) => {
    const target = panel.querySelector(".to-report");
    target.hidden = key === null;
    if (key !== null) target.querySelector("a").href = `/study/${key}`;
  };

  const end = (keys, studies, busy) => {
    const done = keys.find((key) => studies[key] && studies[key][1]);
    panel.hidden = false;
    panel.dataset.moves = "no";
    put("left", "");
    if (done === undefined) {
      put("news", busy ? "Its program is still at work." : "Its program has ended. The same command goes on, or answers at once.");
      return;
    }
    const bar = panel.querySelector("progress");
    bar.value = 100;
    bar.setAttribute("aria-valuetext", "100%, finished");
    put("percent", "100%");
    for (const name of ["cells", "stage"]) put(name, "");
    put("news", "Finished.");
    link(done);
  };

  const rows = (studies) => {
    let unknown = false;
    for (const [key, [state, page]] of Object.entries(studies)) {
      const row = document.getElementById(`row-${key}`);
      if (!row) { unknown = true; continue; }
      const mark = row.querySelector(".state");
      if (mark.textContent !== state) {
        mark.textContent = state;
        mark.className = `state ${state}`;
        row.querySelector(".note").textContent = ""; // it spoke of the state before
      }
      const name = row.querySelector("[data-name]");
      if (page && !name.querySelector("a")) {
        const to = document.createElement("a");
        to.href = `/study/${key}`;
        to.append(...name.childNodes);
        name.append(to);
      }
    }
    for (const one of document.querySelectorAll("[data-more]")) one.hidden = !unknown;
  };

  const take = ({ running, studies, busy }) => {
    const mine = running && (own === null || running.studies.includes(own)) ? running : null;
    if (mine) {
      move(mine);
      last = own === null ? mine.studies : [own];
    } else if (last.length) {
      end(last, studies, busy);
    } else if (own !== null && studies[own] && studies[own][1]) {
      end([own], studies, busy); // it ran and ended between two questions
    }
    if (own === null) rows(studies);
  };

  const ask = async () => {
    try {
      const answer = await fetch("/live.json", { cache: "no-store", credentials: "omit" });
      if (!answer.ok) throw new Error(answer.statusText);
      take(await answer.json());
    } catch {
      panel.hidden = false;
      put("news", "heldout serve does not answer. What is shown may be old.");
    }
    window.setTimeout(ask, document.hidden ? 5000 : 1000);
  };
  ask();
})();
