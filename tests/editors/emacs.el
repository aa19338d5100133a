;;; emacs.el --- drives Emacs with the server  -*- lexical-binding: t -*-

;; Run by `cargo xtask editors', in a folder with `pool.agent.abl'. Prints a line for each check, and exits with 1 if one
;; fails.

(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
  (add-to-list 'load-path folder))
(require 'eglot)
(require 'flymake)
(require 'cl-lib)

(defvar check-failed nil)
(defun check (name holds seen)
  "Print whether what NAME says HOLDS, else what was SEEN."
  (if holds
      (princ (format "ok %s\n" name))
    (setq check-failed t)
    (princ (format "FAILED %s: %S\n" name seen))))

(defun wait-until (holds)
  "Wait until the function HOLDS returns something, and return it."
  (let ((end (+ (float-time) 10)) found)
    (while (and (not (setq found (funcall holds))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(define-derived-mode abl-mode prog-mode "ABL"
  (setq-local comment-start "# "))
(add-to-list 'auto-mode-alist '("\\.abl\\'" . abl-mode))
(add-to-list 'eglot-server-programs (cons 'abl-mode (list (getenv "AGENTIR") "lsp")))
(setq eglot-sync-connect 10 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil)
;; A version of Emacs asks about every workspace edit.
(fset 'y-or-n-p (lambda (&rest _) t))

(find-file "pool.agent.abl")
(setq default-directory (file-name-directory (buffer-file-name)))
(let ((project (cons 'transient default-directory)))
  (eglot '(abl-mode) project 'eglot-lsp-server (list (getenv "AGENTIR") "lsp") "abl"))
(eglot--signal-textDocument/didOpen)

(defun texts ()
  (mapcar (lambda (one) (substring-no-properties (flymake-diagnostic-text one)))
          (flymake-diagnostics)))
(defun shows (part)
  (cl-some (lambda (text) (string-match-p part text)) (texts)))

(flymake-mode 1)
(flymake-start)
(check "findings are shown" (wait-until (lambda () (flymake-start) (shows "book_line"))) (texts))

(goto-char (point-min))
(search-forward "book_lane")
(backward-char 2)
(let* ((answer (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                (eglot--TextDocumentPositionParams)))
       (said (format "%S" answer)))
  (check "hover describes a tool"
         (and (string-match-p "book_lane(day: string)" said) (string-match-p "Books a lane" said))
         said))

(goto-char (point-min))
(search-forward "book_line")
(backward-char 2)
(let* ((actions (jsonrpc-request
                 (eglot--current-server-or-lose) :textDocument/codeAction
                 (list :textDocument (eglot--TextDocumentIdentifier)
                       :range (list :start (eglot--pos-to-lsp-position)
                                    :end (eglot--pos-to-lsp-position))
                       :context (list :diagnostics [] :only ["quickfix"]))))
       (fix (cl-find-if (lambda (one) (string-match-p "Replace by" (plist-get one :title)))
                        actions)))
  (check "a quick fix is offered" fix actions)
  (when fix (eglot--apply-workspace-edit (plist-get fix :edit)))
  (check "a quick fix is made" (string-match-p "CALL: book_lane(day" (buffer-string))
         (buffer-string)))

(goto-char (point-min))
(search-forward "CALL: book_lane")
(backward-char 2)
;; Edits are sent when Emacs is idle.
(eglot--signal-textDocument/didChange)
(eglot-rename "reserve_lane")
(check "a rename changes all places"
       (and (string-match-p "CALL: reserve_lane" (buffer-string))
            (string-match-p "^  reserve_lane(day: string)" (buffer-string))
            (not (string-match-p "book_lane" (buffer-string))))
       (buffer-string))

(goto-char (point-max))
(insert "  RESPOND:    \"Bye 😀\"\n")
(eglot--signal-textDocument/didChange)
(eglot-format-buffer)
(check "a document is formatted" (string-match-p "^  RESPOND: \"Bye 😀\"$" (buffer-string))
       (buffer-string))

(eglot-shutdown (eglot--current-server-or-lose))
(check "the server ends" (not (eglot-current-server)) "it runs")
(set-buffer-modified-p nil)
(kill-emacs (if check-failed 1 0))
