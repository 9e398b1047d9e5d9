; The Windows setup program: the frozen folder, shortcuts, and the files that it opens.
; packaging/build installer passes VERSION and TARGET; "/S /D=FOLDER" installs without questions.
Unicode true
Name "AUC Studio"
OutFile "${TARGET}"
InstallDir "$LOCALAPPDATA\Programs\AUC Studio"
InstallDirRegKey HKCU "Software\AUC Studio" "Folder"
RequestExecutionLevel user
SetCompressor /SOLID lzma

Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\AUC Studio"

Section
  RMDir /r "$INSTDIR\_internal"
  SetOutPath "$INSTDIR"
  File /r "..\dist\aucstudio\*.*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\AUC Studio.lnk" "$INSTDIR\AUC Studio.exe"
  WriteRegStr HKCU "Software\AUC Studio" "Folder" "$INSTDIR"
  WriteRegStr HKCU "Software\Classes\.aucproj" "" "AUCStudio.Project"
  WriteRegStr HKCU "Software\Classes\AUCStudio.Project" "" "AUC Studio project"
  WriteRegStr HKCU "Software\Classes\AUCStudio.Project\DefaultIcon" "" "$INSTDIR\AUC Studio.exe,0"
  WriteRegStr HKCU "Software\Classes\AUCStudio.Project\shell\open\command" "" '"$INSTDIR\AUC Studio.exe" "%1"'
  WriteRegStr HKCU "Software\Classes\.aucmodel" "" "AUCStudio.Model"
  WriteRegStr HKCU "Software\Classes\AUCStudio.Model" "" "AUC Studio model"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "AUC Studio"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
SectionEnd

Section "Uninstall"
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\aucstudio.exe"
  Delete "$INSTDIR\AUC Studio.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\AUC Studio.lnk"
  DeleteRegKey HKCU "Software\AUC Studio"
  DeleteRegKey HKCU "Software\Classes\.aucproj"
  DeleteRegKey HKCU "Software\Classes\.aucmodel"
  DeleteRegKey HKCU "Software\Classes\AUCStudio.Project"
  DeleteRegKey HKCU "Software\Classes\AUCStudio.Model"
  DeleteRegKey HKCU "${UNINSTALL}"
SectionEnd
