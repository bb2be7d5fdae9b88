// In formgrader's list of assignments: shows why the server refused a new assignment or a due date,
// and then the assignments that there are.
$(document).ajaxError((event, response, request) => {
  if (request.type !== "PUT") return;
  let reason = "The server refused this assignment.";
  try {
    reason = JSON.parse(response.responseText).error || reason;
  } catch { /* not an answer of ours */ }
  const dialog = createLogModal("error-modal", "Not saved", reason);
  dialog.on("hidden.bs.modal", () => location.reload());
});
